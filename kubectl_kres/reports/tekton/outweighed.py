"""Where the containers that Tekton adds, and not the steps, decide how much a refused pod asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kubectl_kres.admission.base.draft import SIDES, Draft
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.pod.aggregate import of_containers
from kubectl_kres.quantity import ZERO
from kubectl_kres.reports.common.system_parts import Outweighed

_RULES = frozenset({"quota/exceeded", "limitrange/max"})


def outweighed(outcomes: Sequence[Outcome], added: Collection[str]) -> tuple[Outweighed, ...]:
    """Return what of a refused pod is more for a container that Tekton adds than for all steps and sidecars together.

    ``added``: their names.
    """
    refused = [outcome for outcome in outcomes if outcome.refusal is not None and outcome.draft is not None]
    if not refused or refused[0].refusal is None:
        return ()
    draft: Draft | None = refused[0].draft
    names = {
        finding.resource.rpartition(".")[2]
        for finding in refused[0].refusal.findings
        if finding.rule in _RULES and finding.resource
    }
    return tuple(_outweighed(draft, names, added)) if draft is not None else ()


def _outweighed(draft: Draft, names: Collection[str], added: Collection[str]) -> Iterator[Outweighed]:
    for name in sorted(names):
        for side in SIDES:
            together = of_containers(draft.containers, [], side).get(name, ZERO)
            amounts = {slot.name: slot.side(side).get(name, ZERO) for slot in draft.inits}
            most = max(amounts.values(), key=lambda amount: amount.nano, default=ZERO)
            whose = tuple(container for container, amount in amounts.items() if amount.nano == most.nano)
            if most > together and set(whose) <= set(added):
                yield Outweighed(side, name, str(most), whose, str(together))
