"""The kinds of Kubernetes that hold a pod template, and what their controllers do with it.

Whoever needs some of them takes a selection from here: what a kind is left out of, an answer forgets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct


class Revision(NamedTuple):
    """What keeps a template of a workload: its kind, and the resource as quotas count it."""

    kind: str
    resource: str


REPLICA_SET = Revision("ReplicaSet", "replicasets.apps")
CONTROLLER_REVISION = Revision("ControllerRevision", "controllerrevisions.apps")


class WorkloadKind(Struct, frozen=True):
    """A kind with a pod template at ``template``.

    makes: the kind that its controller creates: Pod, or one that makes the pods in turn; empty: it has no controller.
    revision: what is made for each template before any pod; None: a template that is changed is lost.
    wanted: the field that says how many pods it wants; empty: something else does.
    retried: its controller replaces a pod that is missing, and tries again where it is refused.
    placed: kube-scheduler is free to choose the node. fixed: the template never changes.
    """

    kind: str
    group: str
    short_name: str = ""
    makes: str = "Pod"
    revision: Revision | None = None
    wanted: str = ""
    retried: bool = True
    placed: bool = True
    fixed: bool = False
    template: tuple[str, ...] = ("spec", "template")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that kubectl takes: the plural, the singular, the short one."""
        singular = self.kind.lower()
        return (f"{singular}s", singular, *filter(None, (self.short_name,)))

    @property
    def scaled(self) -> bool:
        """Return whether it has the subresource scale, which kubectl and autoscalers set."""
        return self.wanted == "spec.replicas"


#: Sources: controller/deployment, replicaset, statefulset, daemon, job and cronjob; registry/*/storage for scale;
#: validation.go ValidateJobSpecUpdate for the template of a Job.
_ROWS = (
    WorkloadKind("Deployment", "apps", "deploy", "ReplicaSet", REPLICA_SET, "spec.replicas"),
    WorkloadKind("StatefulSet", "apps", "sts", revision=CONTROLLER_REVISION, wanted="spec.replicas"),
    WorkloadKind("DaemonSet", "apps", "ds", revision=CONTROLLER_REVISION, placed=False),
    WorkloadKind("ReplicaSet", "apps", "rs", wanted="spec.replicas"),
    WorkloadKind("Job", "batch", wanted="spec.parallelism", fixed=True),
    WorkloadKind("ReplicationController", "", "rc", wanted="spec.replicas"),
    WorkloadKind(
        "CronJob", "batch", "cj", "Job", wanted="spec.jobTemplate.spec.parallelism", retried=False,
        template=("spec", "jobTemplate", "spec", "template"),
    ),
    WorkloadKind("PodTemplate", "", makes="", retried=False, placed=False, template=("template",)),
)  # fmt: skip
WORKLOADS: Mapping[str, WorkloadKind] = {row.kind: row for row in _ROWS}

#: Kinds of which pods come: all but those that only keep a template.
POD_MAKERS = tuple(row.kind for row in _ROWS if row.makes)
#: Kinds that keep a number of pods, so that one can be missing.
RETRIED = tuple(row.kind for row in _ROWS if row.retried)
#: Kinds whose pods go on forever, so that all of them are wanted at once.
LASTING = tuple(row.kind for row in _ROWS if row.retried and row.group != "batch")
#: Kinds with the subresource scale.
SCALED = tuple(row.kind for row in _ROWS if row.scaled)
#: Kinds that replace their pods when the template changes, with what is made for each template.
REVISIONS: Mapping[str, Revision] = {row.kind: row.revision for row in _ROWS if row.revision}
#: Kinds that are made by the controller of another one, with that one.
MADE_BY: Mapping[str, str] = {row.makes: row.kind for row in _ROWS if row.makes in WORKLOADS}
#: Kinds that pods name as their controller: by their own template, or by a revision of it.
POD_OWNERS = tuple(row.kind for row in _ROWS if row.makes == "Pod")
TEMPLATE_OWNERS = tuple(kind for kind in POD_OWNERS if kind not in REVISIONS)
REVISION_OWNERS = tuple(kind for kind in POD_OWNERS if kind in REVISIONS)
#: Kinds whose pods kube-scheduler places.
PLACED = tuple(row.kind for row in _ROWS if row.placed)
#: Kinds of which a new template is taken, and makes new pods.
PATCHED = tuple(row.kind for row in _ROWS if row.makes and not row.fixed)
#: Where a template can stand, the likeliest place first.
TEMPLATE_PATHS = tuple(dict.fromkeys(row.template for row in _ROWS))
