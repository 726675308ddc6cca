"""Refusals, assumptions and missing references that Tekton's rules return, as data for reports."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.model.pod import Pod
from kubectl_kres.provenance.journal import Journal, Source
from kubectl_kres.tekton.rules.base.problem import MessageFault, Problem

ListOrder = tuple[str, ...]


def webhook_refusal(kind: str, message: str, rule: str, faults: tuple[MessageFault, ...] = ()) -> Problem:
    """Return what a webhook answers; ``message`` is without the webhook's name."""
    return Problem("validation", kind, message, rule, "BadRequest", code=400, faults=faults)


def refused_object(
    kind: str, refusal: Refusal, missing: int = 1, *, status: str = "", requeue_seconds: int = 0
) -> Problem:
    """Return why the API server does not store a run, in its words. ``missing``: how many alike are not stored, which
    is what a quota that counts them is asked for. ``status``, ``requeue_seconds``: as in Problem.
    """
    rule = "tekton/object-refused"
    faults = tuple(
        MessageFault(finding.text, rule, finding.resource, str(missing), finding.used, finding.limit, finding.source)
        for finding in refusal.findings
        if finding.rule == "quota/exceeded"
    )
    return Problem(
        "object", kind, refusal.message, rule, refusal.reason, status, requeue_seconds, refusal.code, faults=faults
    )


class MissingReference(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Something that the run refers to and that is not there to look at.

    reason: ``missing`` (it does not exist), ``unreadable`` (it may, but could not be read), ``remote`` (``resolver``
    says where: hub, git, bundles, cluster), ``custom`` (no task of Tekton's, it has no pod of its own here), ``nested``
    (a pipeline in a pipeline).
    """

    kind: str
    name: str
    reason: Literal["missing", "unreadable", "remote", "custom", "nested"]
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
        }[self.reason]


class BuiltPod(Struct, frozen=True):
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
    """Return the three fields below the field that the source names."""
    names = ("stepSpecs", "sidecarSpecs", "computeResources")
    return Fields(*(source.at_path(f"{source.field}.{name}") for name in names))


class SpecOrigin(Struct, frozen=True):
    """Where a TaskSpec stands: the object, and in ``field`` the path of the spec in it."""

    source: Source

    def path_of(self, field: str) -> Source:
        """Return the source of a field below the spec."""
        return self.source.at_path(f"{self.source.field}.{field}")

    def nested_spec(self, field: str) -> SpecOrigin:
        """Return a spec that stands inside this one."""
        return SpecOrigin(self.path_of(field))
