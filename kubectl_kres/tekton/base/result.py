"""What Tekton says of an object, and what could not be looked up: data that a report can print."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from kubectl_kres.model.pod import Pod
from kubectl_kres.provenance.journal import Journal, Source

Stage = Literal["object", "validation", "reconcile", "create"]
ListOrder = tuple[str, ...]


class MessageFault(Struct, frozen=True, rename="camel"):
    """One of several faults that a message names: its part of the text, the code of its rule."""

    text: str
    rule: str


class Problem(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Why there is no pod (yet), in the words of whoever says so.

    stage: ``object`` (the API server refuses the run itself), ``validation`` (a webhook does), ``reconcile`` (the
    controller's checks) or ``create`` (the API server refused the pod). object: the kind concerned. At the first two
    stages there is no run: ``code`` and ``reason`` are those of the answer. At the others ``reason`` and ``status`` are
    of the condition ``Succeeded``. requeue_seconds: when the next try is; 0: there is none. rule: its code. field,
    observed: what does not decode; empty where the message says it. faults: where rules differ, one for each of them.
    """

    stage: Stage
    object: str
    message: str
    rule: str
    reason: str = ""
    status: str = ""
    requeue_seconds: int = 0
    code: int = 0
    field: str = ""
    observed: str = ""
    faults: tuple[MessageFault, ...] = ()

    @property
    def final(self) -> bool:
        """Whether nothing is tried again (``retries`` apart)."""
        return self.requeue_seconds == 0

    @property
    def text(self) -> str:
        """The message as a client sees it: a webhook's has the webhook's name in front."""
        if self.stage != "validation":
            return self.message
        webhook = "webhook" if self.message.startswith("mutation failed: ") else "validation.webhook"
        return f'admission webhook "{webhook}.pipeline.tekton.dev" denied the request: {self.message}'


def webhook_refusal(kind: str, message: str, rule: str, faults: tuple[MessageFault, ...] = ()) -> Problem:
    """What a webhook answers; ``message`` is without the webhook's name."""
    return Problem("validation", kind, message, rule, "BadRequest", code=400, faults=faults)


class Gap(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Something that the run refers to and that is not there to look at.

    why: ``missing`` (it does not exist), ``unreadable`` (it may, but could not be read), ``remote`` (``resolver`` says
    where: hub, git, bundles, cluster), ``custom`` (no task of Tekton's, it has no pod of its own here), ``nested`` (a
    pipeline in a pipeline).
    """

    kind: str
    name: str
    why: Literal["missing", "unreadable", "remote", "custom", "nested"]
    resolver: str = ""

    def __str__(self) -> str:
        name = f"{self.kind} {self.name}" if self.name else f"the {self.kind}"
        if self.kind == "ClusterTask":
            return f"{name} is not looked up: Tekton has no ClusterTasks any more, the resolver cluster does that now"
        return {
            "missing": f"{name} does not exist",
            "unreadable": f"{name} could not be read",
            "remote": f"{name} comes from the resolver {self.resolver} and is not looked up",
            "custom": f"{name} is a custom task: its controller decides what runs",
            "nested": f"{name} is a pipeline in a pipeline: it has pods of its own",
        }[self.why]


class Built(Struct, frozen=True):
    """One pod that Tekton can submit. ``orders``: the listing orders of LimitRanges that lead to it; empty: any.

    The journal's paths are the pod's, its sources the objects that the values come from.
    """

    pod: Pod
    journal: Journal
    orders: tuple[ListOrder, ...] = ()


class Fields(Struct, frozen=True):
    """Where the values that a TaskRun gives stand: in itself, or in the PipelineRun that made it."""

    step_specs: Source
    sidecar_specs: Source
    compute_resources: Source


def fields_below(source: Source) -> Fields:
    """The three fields below the field that the source names."""
    names = ("stepSpecs", "sidecarSpecs", "computeResources")
    return Fields(*(source.at(f"{source.field}.{name}") for name in names))


class SpecOrigin(Struct, frozen=True):
    """Where a TaskSpec stands: the object, and in ``field`` the path of the spec in it."""

    source: Source

    def at(self, field: str) -> Source:
        """The source of a field below the spec."""
        return self.source.at(f"{self.source.field}.{field}")

    def below(self, field: str) -> SpecOrigin:
        """A spec that stands inside this one."""
        return SpecOrigin(self.at(field))


class TooMuch(Struct, frozen=True):
    """What one pod asks of a quota that has less even when nothing else runs. Amounts as the quota writes them."""

    quota: str
    resource: str
    requested: str
    hard: str
