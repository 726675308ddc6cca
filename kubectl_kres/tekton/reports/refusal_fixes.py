"""What mends a refusal of Tekton's webhooks and controller, as values; ``text.refusal_fixes`` words them."""

from __future__ import annotations

from typing import Literal

from kubectl_kres.provenance.journal import Source
from kubectl_kres.record import Sentence


class LowerStepRequest(Sentence, frozen=True):
    """A step's request that is above its limit in the Task's own text; empty: the figures are not known."""

    request: str = ""
    limit: str = ""


class CorrectField(Sentence, frozen=True):
    """A field that does not decode; ``path`` empty: the message names it. ``field``: the one to write instead.

    ``fault``: no value, a field that does not exist, a parameter where none may be used, or a text that is no quantity.
    """

    path: str = ""
    fault: Literal["", "no-value", "unknown", "parameter", "quantity"] = ""
    field: str = ""
    observed: str = ""
    quantity: str = ""


class ReferOrEmbed(Sentence, frozen=True):
    """Either a reference or an embedded spec."""

    kind: Literal["task", "pipeline"]


class DropRetiredFields(Sentence, frozen=True):
    """Fields of v1alpha1."""

    fields: str


class GiveParameters(Sentence, frozen=True):
    """Parameters without a value. ``step``: of a step whose StepAction declares them; empty: of the run."""

    names: tuple[str, ...]
    step: str = ""


class DropParameters(Sentence, frozen=True):
    """Parameters that the StepAction of a step does not declare."""

    names: tuple[str, ...]
    step: str


class ChangeTimeout(Sentence, frozen=True):
    """``negative``: it has to be 0 or more; else it is longer than what it is a part of."""

    negative: bool


class CreateReferred(Sentence, frozen=True):
    """A Task, StepAction or Pipeline that does not exist."""

    kind: str
    name: str


class BindWorkspace(Sentence, frozen=True):
    """A workspace that the run does not bind, or ``undeclared``: that the Task does not declare."""

    workspace: str
    undeclared: bool = False


class RaiseAboveShare(Sentence, frozen=True):
    """A limit below the request that a LimitRange's share gives a step without one."""

    resource: str
    holder: str
    share: str
    limit: str
    by: str


class MakeRoomForRuns(Sentence, frozen=True):
    """Runs are too many for a quota; ``resource`` empty: which one counts them is not known."""

    resource: str = ""
    quota: str = ""


class CreateServiceAccount(Sentence, frozen=True):
    """``account``: None: the run names none that is known. ``command``: the line that creates it."""

    account: Source | None = None
    command: str = ""


class GiveToOneStep(Sentence, frozen=True):
    """A resource in whole numbers of the whole Task, which its steps cannot share."""

    resource: str
    steps: int
