"""What lets an object be admitted by Kueue, as values; ``text.fixes`` words them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Sentence, Wording


class QueueOutcome(Struct, frozen=True):
    """What comes of a change that was tried: it is admitted, has room once others had their turn, or waits its turn.

    ``with_others``: those before it are admitted, too. ``cause``: of waiting on for another reason.
    """

    comes: Literal["admitted", "room", "turn", "waits"] = "admitted"
    with_others: bool = False
    cause: str = ""


class ResourceAmount(Struct, frozen=True):
    """An amount of a resource, as Kubernetes writes it."""

    resource: str
    amount: str


class NameLocalQueue(Sentence, frozen=True):
    """Another queue in the label of the object."""

    of: ObjectRef
    queue: str
    outcome: QueueOutcome


class NameSomeLocalQueue(Sentence, frozen=True):
    """A queue in the label of an object that names none, or none that is there; ``queues``: those of its namespace."""

    queues: tuple[str, ...]
    namespace: str = ""
    of: ObjectRef | None = None


class CreateLocalQueue(Sentence, frozen=True):
    """``cluster_queues``: which there are for it."""

    queue: str
    namespace: str
    cluster_queues: tuple[str, ...] = ()


class CreateClusterQueue(Sentence, frozen=True):
    """``meant``: the one that the LocalQueue probably means."""

    queue: str
    local_queue: str
    meant: str = ""


class ResumeQueue(Sentence, frozen=True):
    """A stopped queue may admit again."""

    kind: str
    queue: str


class CreateFlavor(Sentence, frozen=True):
    """``meant``: the one that the ClusterQueue probably means."""

    flavor: str
    cluster_queue: str
    meant: str = ""


class CreateAdmissionCheck(Sentence, frozen=True):
    """An admission check that a ClusterQueue names."""

    check: str
    cluster_queue: str


class SeeCheckController(Sentence, frozen=True):
    """``inactive``: why a check is not active; else what the open checks wait for."""

    checks: tuple[str, ...]
    inactive: bool = False


class ChangeNamespaceSelector(Sentence, frozen=True):
    """``missing``: the ClusterQueue has no selector, and so takes no namespace."""

    cluster_queue: str
    missing: bool = False


class LabelNamespace(Sentence, frozen=True):
    """Labels that the ClusterQueue asks for. ``outcome``: None: it stands in the queue then."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    outcome: QueueOutcome | None = None


class KeepToBounds(Sentence, frozen=True):
    """Amounts of a container within the ``bound`` of the LimitRanges; "limit": a request within its own limit."""

    resources: str
    container: str
    bound: Literal["min", "max", "limit"]
    namespace: str = ""


class CoverResources(Sentence, frozen=True):
    """Resources that no flavor covers. ``annotated``: a run asks for them in annotations. ``expressions``: and
    tekton-kueue's expressions add to those.
    """

    resources: tuple[str, ...]
    cluster_queue: str
    annotated: bool = False
    expressions: bool = False


class ChangePlacement(Sentence, frozen=True):
    """Node selector or affinity exclude a flavor, whose nodes have these labels."""

    flavor: str
    labels: tuple[tuple[str, str], ...]


class TolerateTaints(Sentence, frozen=True):
    """Tolerations for the taints of a flavor, each as ``key=value:effect``."""

    taints: tuple[str, ...]
    of: ObjectRef
    flavor: str
    outcome: QueueOutcome


class RunFewerPods(Sentence, frozen=True):
    """The most pods of a Job at once that fit, not ``before``."""

    of: ObjectRef
    pods: int
    before: int


class LowerRequests(Sentence, frozen=True):
    """Requests of the only container; empty: at most so much in each pod, however it is spread."""

    amounts: tuple[ResourceAmount, ...]
    container: str = ""


class LowerAnnotations(Sentence, frozen=True):
    """Annotations of a new run come to this. ``expressions``: tekton-kueue's add to them."""

    amounts: tuple[ResourceAmount, ...]
    expressions: bool = False


class RaisedQuota(Struct, frozen=True):
    """A nominal quota of a flavor, raised."""

    resource: str
    flavor: str
    before: str
    after: str


class RaiseNominalQuota(Sentence, frozen=True):
    """Larger quotas of a ClusterQueue."""

    cluster_queue: str
    quotas: tuple[RaisedQuota, ...]
    outcome: QueueOutcome


class WaitForQuota(Sentence, frozen=True):
    """Others give theirs back."""


class WaitForRequeue(Sentence, frozen=True):
    """``until``: RFC 3339."""

    until: str


class MendHead(Sentence, frozen=True):
    """What mends the Workload that stands first, of the object ``of``."""

    of: str
    fix: Wording


class RemoveHead(Sentence, frozen=True):
    """The Workload that stands first goes, or gets less priority."""

    of: str


class StartNewRun(Sentence, frozen=True):
    """Kueue has ended the run."""

    of: ObjectRef


class ReviveWorkload(Sentence, frozen=True):
    """A Workload that somebody has deactivated."""

    workload: str


class RemakeWorkload(Sentence, frozen=True):
    """Kueue makes another Workload; ``of``: the object to create anew instead, where ``active`` revives nothing."""

    workload: str
    of: ObjectRef | None = None


class CreatePriorityClass(Sentence, frozen=True):
    """``of``: the object whose label may be wrong instead."""

    priority_class: str
    of: ObjectRef | None = None


class NamePriorityClass(Sentence, frozen=True):
    """The one that was probably meant, in the label of the object."""

    priority_class: str
    of: ObjectRef


class CompleteGroup(Sentence, frozen=True):
    """A pod group that says more pods than there are."""

    group: str
    pods: str
    wanted: str


class SeeKueueRuns(Sentence, frozen=True):
    """No Workload is made of a kind that Kueue may not manage."""

    kind: str
