"""A rule of the catalogue."""

from __future__ import annotations

from msgspec import Struct


class CataloguedRule(Struct, frozen=True):
    """What a rule does, in one sentence, and where the real system does it. ``gate``: it needs this feature gate.

    ``by_hand``: what there is to do about its refusals where no edit can be computed, with ``{path}``, ``{container}``
    and ``{resource}`` where those of a refusal are named, and ``{set_in}`` for ``set_in``: where the setting stands.
    ``{flags}`` ends a command of kubectl. ``refuses`` False: it sets, sums up or supposes something.
    """

    title: str
    source: str
    gate: str = ""
    by_hand: str = ""
    set_in: str = ""
    refuses: bool = True

    @property
    def general_fix(self) -> str:
        """What to do about any of its refusals; empty where an edit is computed for each."""
        return self.fix("the field that the message names", "the container", "the resource")

    def fix(self, path: str, container: str, resource: str, set_in: str = "", flags: str = "") -> str:
        """Return what to do about a refusal. ``set_in``: where the setting stands there, if elsewhere than usual.

        ``flags``: those of kubectl that choose the server.
        """
        return self.by_hand.format(
            path=path,
            container=container,
            resource=resource,
            set_in=set_in or self.set_in,
            flags=f" {flags}" if flags else "",
        )


class CodeAdvice(Struct, frozen=True):
    """What to do about refusals by some rules, in a clause, and the name of the runbook; empty: there is none."""

    text: str
    runbook: str = ""


#: What stands for a source where something could not be known and was supposed.
SUPPOSED = "assumed, and named in the answer"
