"""The contexts of a check of files: what they hold, in a cluster that has them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.select.workloads import (
    asked_for,
    complete,
    counted_in_files,
    definitions_in_files,
    file_subjects,
    refs_that_quotas_count,
)
from kubectl_kres.cli.simulation import files_of
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import UsageError
from kubectl_kres.manifests.read import raise_faults
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import SCALED, WORKLOADS
from kubectl_kres.reports.changes.combined_answer import (
    POLICIES,
    CombinedAnswer,
    Files,
    evaluate_together,
    find_refused_objects,
    with_policies,
)
from kubectl_kres.reports.check.context import CheckContext, RemedyBudget
from kubectl_kres.reports.check.store_contexts import cluster_needs, missing_of_cluster, missing_reads
from kubectl_kres.reports.check.system import predicted, used_definitions
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.system import answers_about
from kubectl_kres.reports.pod.needs import list_read_requests
from kubectl_kres.store.store import ReadRequest, Store


def file_contexts(
    source: ObjectSource, inputs: Input, options: Options, evaluation_options: EvaluationOptions, budget: RemedyBudget
) -> Iterator[CheckContext]:
    """Only what the files hold is asked about, in a cluster that has them."""
    subjects = asked_for(source, inputs, file_subjects(inputs, options.selector))
    used = used_definitions([manifest.raw for manifest in inputs.manifests])
    subjects += (item for item in definitions_in_files(inputs, options.selector) if item.ref not in used)
    policies = [ref for ref in inputs.policies.files if ref.kind in POLICIES]
    counted = counted_in_files(source, inputs, options.selector)
    if not subjects and not counted and not inputs.policies.files:
        raise_faults(inputs.left_out)
        raise UsageError(f"{', '.join(options.filenames)}: there is nothing that a rule looks at")
    subjects += _targets(inputs, {subject.ref for subject in subjects})
    complete(source, subjects, list_read_requests)
    if counted:
        from kubectl_kres.reports.namespace.explain_policy import policy_needs

        complete(source, counted, policy_needs)
    asked_about = [subject.ref for subject in (*subjects, *counted)]
    sent = [ref for ref in inputs.policies.files if answers_about(BY_KIND[ref.kind]).as_sent]
    spaces = dict.fromkeys(ref.namespace for ref in (*asked_about, *policies, *sent))
    reads = {
        space: (
            ReadRequest("LimitRange", space),
            ReadRequest("ResourceQuota", space),
            ReadRequest("PriorityClass", required=False),
            ReadRequest("HorizontalPodAutoscaler", space, required=False),
        )
        for space in spaces
    }
    source.fill(read for needs_ in reads.values() for read in needs_)
    source.fill(() if options.offline else _rollout_read_requests(source.store, subjects))
    store, side_by_side = _apply_file_quotas(
        source, files_of(inputs, refs_that_quotas_count(source, inputs)), options, evaluation_options
    )
    for space in spaces:
        here = [subject for subject in subjects if subject.ref.namespace == space]
        lacks = missing_reads(source.store, reads[space])
        beside = [subject for subject in counted if subject.ref.namespace == space]
        yield CheckContext(
            store,
            evaluation_options,
            space,
            here,
            lacks,
            of_files=True,
            budget=budget,
            combined=side_by_side,
            counted=beside,
        )
    if any(BY_KIND[ref.kind].group for ref in inputs.policies.files):
        source.fill(cluster_needs(source.store))
        unread = missing_of_cluster(source.store)
        yield CheckContext(predicted(source.store), evaluation_options, unread=unread, of_files=True)


def _rollout_read_requests(store: Store, subjects: Sequence[Subject]) -> Iterator[ReadRequest]:
    """Yield what the cluster has of files' workloads, and what of a rollout a quota decides about."""
    for subject in subjects:
        ref = subject.ref
        if subject.raw is None or ref.kind not in WORKLOADS:
            continue
        yield ReadRequest(ref.kind, ref.namespace, required=False)
        if ref.kind == "Deployment" and any(store.all("ResourceQuota", ref.namespace)):
            yield ReadRequest("ReplicaSet", ref.namespace, required=False)


def _targets(inputs: Input, known: Collection[ObjectRef]) -> list[Subject]:
    """Return the workloads that autoscalers of the files scale and that stand in no file: what the cluster has
    of them.
    """
    result: dict[ObjectRef, None] = {}
    for horizontal_pod_autoscaler in inputs.policies.all("HorizontalPodAutoscaler"):
        target = horizontal_pod_autoscaler.spec.scale_target_ref
        if target.kind in SCALED:
            result[ObjectRef(target.kind, target.name, horizontal_pod_autoscaler.metadata.namespace)] = None
    return [Subject(ref, BY_KIND[ref.kind]) for ref in result if ref not in known]


def _apply_file_quotas(
    source: ObjectSource, files: Files, options: Options, evaluation_options: EvaluationOptions
) -> tuple[Store, CombinedAnswer | None]:
    """Return the store with quotas that count what is there, and how far several workloads of the files get."""
    server = evaluation_options.server
    if not files.needs_cluster_counts:
        return source.store, find_refused_objects(source.store, files, server)
    source.fill(() if options.offline else files.reads())
    if files.several:
        result: CombinedAnswer | None = evaluate_together(source.store, files, server, in_turn=True)
    else:
        result = find_refused_objects(source.store, files, server)
    return with_policies(source.store, files, server), result
