"""A finding: the rule that an object breaks, with the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Record, Wording

Severity = Literal["error", "warning", "note"]

#: The worst first.
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")

#: The name in a finding that is about all objects of a kind.
ALL_OBJECTS: Final = "*"


class Diagnostic(NamedTuple):
    """A violation that a rule yields for one object. ``values`` fill the rule's message; ``field``: the path that
    violates it.

    ``remedy``: what to change here; empty: the rule's own remedy. ``commands``: lines to type.
    """

    object: ObjectRef
    values: Mapping[str, Wording] = {}
    field: str = ""
    remedy: Wording = ""
    commands: tuple[str, ...] = ()


class CheckFinding(Record, frozen=True):
    """A rule that an object breaks. ``values``: the figures and names in ``message``.

    ``field``: the path in the object that violates it; empty: the whole of it. ``file``, ``line`` and ``column``: where
    that is, of an object of a file; from 1 on. ``ignored``: the reason that the object's annotation gives for not
    counting it. ``known``: it is in the baseline.
    """

    code: str
    severity: Severity
    object: ObjectRef
    message: Wording
    fix: Wording = ""
    commands: tuple[str, ...] = ()
    field: str = ""
    values: Mapping[str, Wording] = {}
    file: str = ""
    line: int = 0
    column: int = 0
    ignored: str = ""
    known: bool = False

    @property
    def counts(self) -> bool:
        """Return whether it is neither ignored nor in the baseline."""
        return not (self.ignored or self.known)

    @property
    def is_denied(self) -> bool:
        """Return whether it says that there is no permission to read objects of a kind."""
        return self.object.name == ALL_OBJECTS and self.values.get("state") == "denied"

    @property
    def key(self) -> tuple[str, str, str]:
        """The key by which the finding is recognized in another run: figures and line numbers may differ."""
        return self.code, self.object.full_name, self.field
