"""What lets an object be admitted by Kueue, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kubectl_kres.kueue import model
from kubectl_kres.kueue.reports import fixes
from kubectl_kres.kueue.text.causes import short_cause
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.wording import join_words


def _outcome(outcome: fixes.QueueOutcome) -> str:
    match outcome.comes:
        case "room":
            return "there is room for it then, once those before it had their turn"
        case "turn":
            return "it waits its turn then"
        case "waits":
            return f"it waits there, too: {short_cause(outcome.cause)}"
    return f"it is admitted then{', with those before it' if outcome.with_others else ''}"


def _local_queue(fix: fixes.NameLocalQueue) -> str:
    return f"name LocalQueue {fix.queue} in label {model.QUEUE_LABEL} of {fix.of}: {_outcome(fix.outcome)}"


def _some_local_queue(fix: fixes.NameSomeLocalQueue) -> str:
    names = join_words(fix.queues) or "none is there yet"
    if fix.of is not None:
        return f"name a LocalQueue in label {model.QUEUE_LABEL} of {fix.of}: {names}"
    return f"name one of the LocalQueues of namespace {fix.namespace}: {names}"


def _new_local_queue(fix: fixes.CreateLocalQueue) -> str:
    choice = f"; ClusterQueues are {join_words(fix.cluster_queues)}" if fix.cluster_queues else ""
    return f"create LocalQueue {fix.queue} in namespace {fix.namespace}{choice}"


def _new_cluster_queue(fix: fixes.CreateClusterQueue) -> str:
    anew = (
        f", or delete LocalQueue {fix.local_queue} and create it anew for ClusterQueue {fix.meant}" if fix.meant else ""
    )
    return f"create ClusterQueue {fix.queue}{anew}: spec.clusterQueue of a LocalQueue cannot be changed"


def _flavor(fix: fixes.CreateFlavor) -> str:
    meant = f", or name {fix.meant} in ClusterQueue {fix.cluster_queue}" if fix.meant else ""
    return f"create ResourceFlavor {fix.flavor}{meant}"


def _checks(fix: fixes.SeeCheckController) -> str:
    names = join_words(fix.checks)
    if fix.inactive:
        return f"see why the controller of AdmissionCheck {names} does not set it Active"
    return f"see what the controller of {names} waits for: kubectl describe admissioncheck"


def _selector(fix: fixes.ChangeNamespaceSelector) -> str:
    if fix.missing:
        return f"give ClusterQueue {fix.cluster_queue} a namespaceSelector: without one it takes no namespace"
    return f"change the namespaceSelector of ClusterQueue {fix.cluster_queue}, or labels of the namespace"


def _labels(fix: fixes.LabelNamespace) -> str:
    then = _outcome(fix.outcome) if fix.outcome is not None else "it stands in the queue then"
    return f"label namespace {fix.namespace} with {_pairs(fix.labels)}: {then}"


def _pairs(labels: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"{key}={value}" for key, value in labels)


def _bounds(fix: fixes.KeepToBounds) -> str:
    if fix.bound == "limit":
        return (
            f"state requests.{fix.resources} of {fix.container} at or below its limit, or its limit above: "
            "a LimitRange fills in the other of them"
        )
    return f"bring {fix.resources} of {fix.container} within the {fix.bound} of the LimitRanges of {fix.namespace}"


def _added(*, expressions: bool) -> str:
    return f" (expressions of ConfigMap {model.RUN_CONFIG} add to it)" if expressions else ""


def _covered(fix: fixes.CoverResources) -> str:
    names = join_words(fix.resources)
    what = f"take {names} out of the requests"
    if fix.annotated:
        annotations = join_words([f"{model.REQUESTS}{name}" for name in fix.resources])
        what = f"start a run without annotation {annotations}{_added(expressions=fix.expressions)}"
    return f"{what}, or let ClusterQueue {fix.cluster_queue} cover {names}"


def _placement(fix: fixes.ChangePlacement) -> str:
    labels = _pairs(fix.labels)
    return f"drop or change what node selector or affinity say of flavor {fix.flavor}, whose nodes have {labels}"


def _taints(fix: fixes.TolerateTaints) -> str:
    then = _outcome(fix.outcome)
    return f"tolerate {join_words(fix.taints)} in the pods of {fix.of}, for flavor {fix.flavor}: {then}"


def _fewer(fix: fixes.RunFewerPods) -> str:
    pods = f"{fix.pods} pod{'s' * (fix.pods != 1)}"
    return f"run {pods} of {fix.of} at once (spec.parallelism), not {fix.before}: it is admitted then"


def _lower(fix: fixes.LowerRequests) -> str:
    if not fix.container:
        amounts = join_words([f"{each.resource} {each.amount}" for each in fix.amounts])
        return f"ask for at most {amounts} in each pod: there is room for it then"
    parts = [f"requests.{each.resource} of container {fix.container} to {each.amount}" for each in fix.amounts]
    return f"set {join_words(parts)}: it is admitted then"


def _annotations(fix: fixes.LowerAnnotations) -> str:
    parts = join_words([f"annotation {model.REQUESTS}{each.resource} is {each.amount}" for each in fix.amounts])
    return f"start a run whose {parts} once it is created{_added(expressions=fix.expressions)}: it is admitted then"


def _nominal(fix: fixes.RaiseNominalQuota) -> str:
    parts = [f"{each.resource} of flavor {each.flavor} from {each.before} to {each.after}" for each in fix.quotas]
    return f"raise nominalQuota in ClusterQueue {fix.cluster_queue}: {join_words(parts)}: {_outcome(fix.outcome)}"


def _remade(fix: fixes.RemakeWorkload) -> str:
    remade = f"delete Workload {fix.workload}, of which Kueue makes another one"
    return remade if fix.of is None else f"{remade}, or create {fix.of} anew; spec.active true revives nothing"


def _new_priority(fix: fixes.CreatePriorityClass) -> str:
    instead = f", or correct label {model.PRIORITY_LABEL} of {fix.of}" if fix.of is not None else ""
    return f"create WorkloadPriorityClass {fix.priority_class}{instead}"


def _group(fix: fixes.CompleteGroup) -> str:
    count = f"set its annotation {model.GROUP_COUNT} to {fix.pods}"
    return f"create the other pods of group {fix.group}, or {count}: it says {fix.wanted}"


WORDS: Mapping[type, Callable[[Any], str]] = {
    fixes.NameLocalQueue: _local_queue,
    fixes.NameSomeLocalQueue: _some_local_queue,
    fixes.CreateLocalQueue: _new_local_queue,
    fixes.CreateClusterQueue: _new_cluster_queue,
    fixes.ResumeQueue: lambda fix: (
        f"set spec.stopPolicy of {fix.kind} {fix.queue} to None once it may admit again: it was stopped on purpose"
    ),
    fixes.CreateFlavor: _flavor,
    fixes.CreateAdmissionCheck: lambda fix: (
        f"create AdmissionCheck {fix.check}, or take it out of ClusterQueue {fix.cluster_queue}"
    ),
    fixes.SeeCheckController: _checks,
    fixes.ChangeNamespaceSelector: _selector,
    fixes.LabelNamespace: _labels,
    fixes.KeepToBounds: _bounds,
    fixes.CoverResources: _covered,
    fixes.ChangePlacement: _placement,
    fixes.TolerateTaints: _taints,
    fixes.RunFewerPods: _fewer,
    fixes.LowerRequests: _lower,
    fixes.LowerAnnotations: _annotations,
    fixes.RaiseNominalQuota: _nominal,
    fixes.WaitForQuota: lambda _: "wait: others give their quota back when they end",
    fixes.WaitForRequeue: lambda fix: f"wait until {fix.until}: Kueue queues it again then",
    fixes.MendHead: lambda fix: f"for {fix.of}, which is first: {sentence_text(fix.fix)}",
    fixes.RemoveHead: lambda fix: f"delete {fix.of}, or give it less priority: those behind it are looked at then",
    fixes.StartNewRun: lambda fix: f"start a new run: Kueue has ended {fix.of}",
    fixes.ReviveWorkload: lambda fix: (
        f"set spec.active of Workload {fix.workload} to true once it may run: it was set to false by hand"
    ),
    fixes.RemakeWorkload: _remade,
    fixes.CreatePriorityClass: _new_priority,
    fixes.NamePriorityClass: lambda fix: (
        f"name WorkloadPriorityClass {fix.priority_class} in label {model.PRIORITY_LABEL} of {fix.of}"
    ),
    fixes.CompleteGroup: _group,
    fixes.SeeKueueRuns: lambda fix: (
        f"see whether Kueue runs and manages {fix.kind}: its manager makes a Workload within seconds"
    ),
}
