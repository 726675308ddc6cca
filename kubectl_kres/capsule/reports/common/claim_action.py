"""What can be done with a claim on a resource pool, or with the pool, so that a claim gets what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Record

#: delete: also stands for an edit to less. release: of a claim in use. edit, move: of the waiting claim itself.
Verb = Literal["delete", "release", "edit", "move", "raise", "annotate"]


class ClaimAction(Record, frozen=True):
    """An action on one object. ``holds``: what a claim that gives way holds, empty if it only waits.

    ``command``: a line to type; empty where an edit in a manifest is meant.
    """

    verb: Verb
    subject: ObjectRef
    state: str = ""
    holds: Mapping[str, str] = {}
    amounts: Mapping[str, str] = {}
    command: str = ""
    effect: str = ""
