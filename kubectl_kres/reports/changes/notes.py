"""What a change leads to is known in part: what is said of that, as values."""

from __future__ import annotations

from typing import Literal

from kubectl_kres.record import Sentence


class UnknownStep(Sentence, frozen=True):
    """What is not known of a step. ``kind``, ``name``: of its object, or of ``maker`` and ``without`` its controller.

    ``what``: change (what it leads to), webhooks (what they say), scope (whether it stands in a namespace), parameter
    (policies take parameters from it, which were not read), before (they see what those were before), without (what its
    controller does then), maker (made by this one), pod (it is there already), running (what it was made of),
    at-once (how many of its pods run, at most ``most``), pods (what becomes of them), makes-pods (whether it does).
    """

    what: Literal[
        "change", "webhooks", "scope", "parameter", "before", "without", "maker", "pod", "running", "at-once", "pods",
        "makes-pods",
    ]  # fmt: skip
    kind: str
    name: str = ""
    made: str = ""
    group: str = ""
    most: int | None = None


class StepRemark(Sentence, frozen=True):
    """An object whose controller makes more than pods (``what``: pods-alone), or makes none: helm-test, suspended.

    queued: Volcano makes them later, and runs none of them before ``least`` can.
    """

    what: Literal["pods-alone", "helm-test", "suspended", "queued"]
    kind: str
    name: str = ""
    least: int | None = None


class NotSimulated(Sentence, frozen=True):
    """What is enforced in a namespace and no step takes into account."""

    namespace: str
    names: tuple[str, ...]


class RandomChoice(Sentence, frozen=True):
    """A webhook or controller that chooses among equals."""

    title: str
    ways: int


class UnreadRollout(Sentence, frozen=True):
    """A workload of a file that looks unchanged, and whose rollout would stall if it is not."""

    workload: str
    namespace: str
    updated: int
    wanted: int


class NodesUnknown(Sentence, frozen=True):
    """Whether nodes take new pods is not known. ``why``: unread, no-node, said (by the server: ``about``), template (of
    the workload ``about``); partly: but for the kinds ``about``, which were not read.
    """

    why: Literal["unread", "no-node", "said", "template", "partly"]
    about: str = ""
