"""KRES101: a workload lacks pods, and the next one is refused.

KRES102: pods run that would not be admitted again.

KRES103: whether pods come depends on the order of LimitRanges or quotas.

KRES104: a rollout that is started now would never end.

KRES109: workloads of files that are admitted each alone, and not all of them side by side.

KRES110: a HorizontalPodAutoscaler may ask for more pods than the quotas have room for.

KRES111: what is admitted and wanted waits or fails; one finding for each reason.

KRES116: an object of a file that makes no pods is refused: a claim, a Service, what a quota counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from shlex import quote

from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.quota.quota_admission import Quota, charges
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import HorizontalPodAutoscaler
from kubectl_kres.model.workload_kinds import REVISIONS, WORKLOADS
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.record import Wording, joined
from kubectl_kres.reports.account import room_for_revision
from kubectl_kres.reports.check.context import CheckContext, EvaluatedWorkload, Rule
from kubectl_kres.reports.check.finding import Diagnostic
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.explanation import Autoscaled, RunState, Subject, Verdict, waits_or_fails
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.explain.all_states import all_states, states_in_store
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.reports.rollout.rolling_update import if_started
from kubectl_kres.reports.rollout.wanted_pods import autoscaler_reach, count_admitted_pods
from kubectl_kres.store.store import ReadRequest


def find_pods_missing(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the objects of files that would not come, and the workloads that lack pods. What never fits a quota is
    found by a rule of its own.
    """
    for evaluated in context.evaluated_workloads:
        made = evaluated.analysis.made_pod
        if not _may_lack(context, evaluated) or (made is not None and made.never):
            continue
        verdict = context.verdict(evaluated)
        if verdict.missing and is_negative(verdict):
            remarks = made.version_remarks if made is not None else ()
            remedy = context.remedy(PODS_MISSING.code, evaluated)
            yield missing_pods_diagnostic(evaluated.ref, verdict, remedy, remarks, exists=not context.of_files)


def missing_pods_diagnostic(
    ref: ObjectRef, verdict: Verdict, remedy: Remedy | None, remarks: Iterable[Wording] = (), *, exists: bool = True
) -> Diagnostic:
    """Return the violation of an object whose pods are refused. ``remarks``: what is said beside the refusal.

    ``exists``: the cluster has it as it is evaluated; no pod of a file is missing yet.
    """
    reason = joined(cause(verdict), *remarks)
    count = verdict.missing or 1
    lacks = f"of its pods {'is' if count == 1 else 'are'} missing" if exists else "of its pods would be missing"
    values = {"outcome": verdict.outcome, "missing": str(count), "lacks": lacks, "why": reason}
    text, commands = (remedy.text, remedy.commands) if remedy is not None else ("", ())
    return Diagnostic(ref, values, remedy=text, commands=commands)


def _may_lack(context: CheckContext, evaluated: EvaluatedWorkload) -> bool:
    replicas = evaluated.replicas
    if replicas is None:
        return not evaluated.admitted or evaluated.ref.kind == "CronJob"
    return context.of_files or bool(replicas.missing_pods or replicas.failing)


def cause(verdict: Verdict) -> str:
    """Return the server's words, shortened as far as possible."""
    if verdict.blocked is not None:
        return verdict.blocked.message
    if verdict.fits is not None:
        return f"{verdict.fits} of them fit{'s' * (verdict.fits == 1)}"
    return next((finding.text for finding in verdict.findings if finding.text), "the server refuses it")


PODS_MISSING = Rule(
    code="KRES101",
    title="pods are missing and refused",
    severity="error",
    reason="The workload runs with fewer pods than it asks for, or with none, until somebody changes something.",
    remedy="Its explanation names each way to get them admitted, with its commands.",
    message="{outcome}: {missing} {lacks}: {why}",
    find=find_pods_missing,
)


def find_next_pod(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the workloads whose pods exist and could not be replaced, even with the room of the old ones."""
    for evaluated in context.evaluated_workloads:
        refusals = [outcome.refusal for outcome in evaluated.analysis.outcomes]
        # Of a file that is reported as KRES101: the next pod is what it asks for.
        if context.of_files or not _runs(evaluated) or any(refusal is None for refusal in refusals):
            continue
        first = refusals[0]
        lasting = [finding for finding in first.findings if _is_lasting(finding)] if first is not None else []
        if lasting:
            yield Diagnostic(
                evaluated.ref, {"why": next((finding.text for finding in lasting if finding.text), lasting[0].rule)}
            )


def _runs(evaluated: EvaluatedWorkload) -> bool:
    """Return whether it has all of its pods."""
    if evaluated.replicas is not None:
        return evaluated.replicas.existing > 0 and not evaluated.replicas.missing_pods
    return evaluated.analysis.manifest.live is not None and evaluated.analysis.made_pod is None


def _is_lasting(finding: Finding) -> bool:
    """Return whether the refusal stays when a pod goes: the room of a quota comes back with it, unless it is over its
    hard.
    """
    return finding.rule != "quota/exceeded" or parse(finding.used) > parse(finding.limit)


NEXT_POD = Rule(
    code="KRES102",
    title="running pods would not be admitted again",
    severity="warning",
    reason="All looks well until a node is drained, a pod crashes or somebody deploys: the next pod is refused.",
    remedy="Its explanation names what refuses the next pod, and each way to get it admitted.",
    message="its pods run, and the next one would be refused: {why}",
    find=find_next_pod,
)


def find_order(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the workloads that some orders admit, and others do not."""
    for evaluated in context.evaluated_workloads:
        answers = {outcome.allowed for outcome in evaluated.analysis.outcomes}
        if answers != {True, False} or (evaluated.replicas is not None and evaluated.replicas.missing_pods):
            continue
        verdict = context.verdict(evaluated)
        if not evaluated.has_ended and not verdict.missing:
            yield Diagnostic(evaluated.ref, {"why": cause(verdict)})


ORDER = Rule(
    code="KRES103",
    title="the order of LimitRanges decides about the next pod",
    severity="warning",
    reason="The API server reads several LimitRanges in an arbitrary order: the same pod is admitted once, and "
    "refused another time.",
    remedy="Keep one LimitRange a namespace, or give all of them the same defaults.",
    message="its next pod may be refused, depending on LimitRange order: {why}",
    find=find_order,
)


def find_rollout(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the workloads with all of their pods, whose quotas have no room for a change of the template.

    Those of files that the cluster does not have are looked at as if all of their pods were there.
    """
    for evaluated in context.evaluated_workloads if context.quotas else ():
        replicas, analysis = evaluated.replicas, evaluated.analysis
        if evaluated.ref.kind not in REVISIONS or replicas is None or _refused_otherwise(evaluated):
            continue
        if context.of_files and not replicas.existing:
            replicas, analysis = _with_all_pods(replicas, analysis)
        counted = any(
            f"count/{REVISIONS[evaluated.ref.kind].resource}" in quota.hard
            for quota in analysis.policies.policies.quotas
        )
        full = counted and not room_for_revision(analysis, evaluated.subject)
        if replicas.missing_pods or (_has_room(replicas, analysis) and not full):
            continue
        # A file that starts a rollout that is refused is no warning: KRES101.
        if context.of_files and is_negative(context.verdict(evaluated)):
            continue
        rollout_result = if_started(context.store, evaluated.subject, analysis, replicas)
        if rollout_result is not None and not rollout_result.complete:
            values = {
                "updated": str(rollout_result.updated),
                "of": str(rollout_result.wanted),
                "surge": str(replicas.surge),
            }
            ref = evaluated.ref
            fit = f"kubectl kres quota --fit {ref.kind.lower()}/{quote(ref.name)} -n {quote(ref.namespace)}"
            remedy = (
                f"raise the quota that counts {REVISIONS[ref.kind].kind}s by one, or delete one that no pod is of"
                if full
                else ""
            )
            yield Diagnostic(ref, values, remedy=remedy, commands=(fit,))


def _with_all_pods(replicas: Replicas, analysis: Analysis) -> tuple[Replicas, Analysis]:
    """Return the quotas once all pods were created; unchanged where not all of them fit."""
    rooms = [count_admitted_pods(outcome, analysis) for outcome in analysis.outcomes]
    draft = analysis.outcomes[0].draft
    if draft is None or any(room is not None and room < replicas.wanted for room in rooms):
        return replicas, analysis
    policies = analysis.policies.policies
    asked = {
        charge.quota: charge.requested
        for charge in charges(quota_request(analysis.manifest.pod, draft), policies.quotas)
    }
    quotas = tuple(_add_usage(quota, asked.get(quota.name, {}), replicas.wanted) for quota in policies.quotas)
    namespace_policies = structs.replace(analysis.policies, policies=structs.replace(policies, quotas=quotas))
    return structs.replace(replicas, existing=replicas.wanted), structs.replace(analysis, policies=namespace_policies)


def _add_usage(quota: Quota, requested: Mapping[str, str], times: int) -> Quota:
    """Return the quota once it has counted so many more of these pods."""
    used = dict(quota.used)
    for name, text in requested.items():
        quantity = parse(text)
        used[name] = used.get(name, ZERO) + Quantity(quantity.nano * times, quantity.format)
    return quota.with_used(used)


def _has_room(replicas: Replicas, analysis: Analysis) -> bool:
    """Return whether the whole surge fits, so that old pods go as new ones come."""
    rooms = [count_admitted_pods(outcome, analysis) for outcome in analysis.outcomes]
    return replicas.surge > 0 and all(room is None or room >= replicas.surge for room in rooms)


def _refused_otherwise(evaluated: EvaluatedWorkload) -> bool:
    return not evaluated.admitted and not evaluated.lacks_room_alone


ROLLOUT = Rule(
    code="KRES104",
    title="a rollout would get stuck",
    severity="warning",
    reason="All pods run, and the next deployment of a new image never finishes: the quota has no room for a "
    "new pod before an old one may go.",
    remedy="Raise the quota by one pod, or set maxUnavailable to 1, so that an old pod goes first (quota --fit "
    "shows how far a rollout gets).",
    message="a rollout started now would stall at {updated} of {of} new pods (maxSurge {surge})",
    find=find_rollout,
)


def find_side_by_side(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the workloads that lack pods once all files are applied; those that lack them alone have a finding
    already.
    """
    combined = context.combined
    if combined is None:
        return
    from kubectl_kres.reports.changes.combined_answer import RefusedManifest  # noqa: PLC0415 - files alone need it

    alone = {evaluated.ref for evaluated in context.evaluated_workloads if is_negative(context.verdict(evaluated))}
    lacks = [
        f"quota {lack.quota.name} is short by {lack.amount} of {lack.resource}"
        for lack in combined.shortfalls
        if lack.quota.namespace == context.namespace
    ]
    for reach in combined.workloads:
        if reach.short and reach.subject not in alone and reach.subject.namespace == context.namespace:
            held_up = "its rollout waits for pods that are not ready" if reach.old else "the others take up the quota"
            words = next(iter(reach.messages), held_up)
            # An object that the server does not take lacks no room for pods.
            own = RefusedManifest(reach.subject, words) in combined.refused or (reach.old and not reach.messages)
            reason = words if own else " and ".join(lacks) or words
            yield Diagnostic(reach.subject, {"pods": str(reach.pods), "wanted": str(reach.wanted), "why": reason})


SIDE_BY_SIDE = Rule(
    code="KRES109",
    title="workloads of the files do not fit side by side",
    severity="error",
    reason="Each manifest is admitted by itself, and once all of them are applied some pods are refused; which ones is "
    "decided by who comes first.",
    remedy="Raise the quota so that all of them fit, or ask for less.",
    message="applied together, {pods} of {wanted} pods fit: {why}",
    find=find_side_by_side,
)


def find_autoscaler(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the autoscalers whose maximum a quota does not admit; of a file's workload without one in the files,
    itself.
    """
    scalers = _by_target(context)
    for evaluated in context.evaluated_workloads if scalers and context.quotas else ():
        scaler = scalers.get((evaluated.ref.kind, evaluated.ref.name))
        # What the workload asks for already is reported of the workload.
        if scaler is None or evaluated.replicas is None or scaler.spec.max_replicas <= evaluated.replicas.wanted:
            continue
        reach = autoscaler_reach(scaler, context.store, evaluated.subject, evaluated.analysis, evaluated.replicas)
        if reach.shortfalls:
            yield _autoscaler_broken(context, evaluated, scaler, reach)


def _by_target(context: CheckContext) -> Mapping[tuple[str, str], HorizontalPodAutoscaler]:
    """Return, by kind and name of the workload, the autoscaler that asks for most."""
    horizontal_pod_autoscalers: dict[tuple[str, str], HorizontalPodAutoscaler] = {}
    for horizontal_pod_autoscaler in context.store.all("HorizontalPodAutoscaler", context.namespace):
        key = (
            horizontal_pod_autoscaler.spec.scale_target_ref.kind,
            horizontal_pod_autoscaler.spec.scale_target_ref.name,
        )
        if (
            key not in horizontal_pod_autoscalers
            or horizontal_pod_autoscaler.spec.max_replicas > horizontal_pod_autoscalers[key].spec.max_replicas
        ):
            horizontal_pod_autoscalers[key] = horizontal_pod_autoscaler
    return horizontal_pod_autoscalers


def _autoscaler_broken(
    context: CheckContext, evaluated: EvaluatedWorkload, scaler: HorizontalPodAutoscaler, reach: Autoscaled
) -> Diagnostic:
    ref = ObjectRef(scaler.kind, scaler.metadata.name, context.namespace)
    hard = {(quota.name, name): quantity for quota in context.quotas for name, quantity in quota.hard.items()}
    raised = [
        f"{lack.resource} of quota {lack.quota} to {hard[lack.quota, lack.resource] + parse(lack.short_by)}"
        for lack in reach.shortfalls
    ]
    lowered = f", or lower maxReplicas to {reach.fits}" if reach.fits >= max(1, scaler.spec.min_replicas or 1) else ""
    name, space = evaluated.ref.name, evaluated.ref.namespace
    values = {
        "autoscaler": reach.autoscaler,
        "workload": f"{evaluated.ref.kind}/{name}",
        "most": str(reach.max_replicas),
        "fits": str(reach.fits),
        "why": ", ".join(
            f"quota {shortfall.quota} is short by {shortfall.short_by} of {shortfall.resource}"
            for shortfall in reach.shortfalls
        ),
    }
    return Diagnostic(
        ref if context.selects(ref) else evaluated.ref,
        values,
        "spec.maxReplicas" if context.selects(ref) else "",
        f"raise {' and '.join(raised)}{lowered}",
        (f"kubectl kres quota --fit {evaluated.ref.kind.lower()}/{quote(name)} -n {quote(space)}",),
    )


AUTOSCALER = Rule(
    code="KRES110",
    title="an autoscaler's maximum does not fit",
    severity="warning",
    reason="All looks well until load comes: then the autoscaler asks for pods that the quota refuses, when they are "
    "needed most.",
    remedy="Raise the quota, or lower maxReplicas to what fits.",
    message="at autoscaler {autoscaler}'s maximum of {most} replicas of {workload}, {fits} fit: {why}",
    find=find_autoscaler,
)


#: So many workloads are named; the rest is counted.
_NAMED = 10


def find_held_up(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield what is held up by something other than a refusal: one finding for each reason, with all that it
    holds up.
    """
    if context.of_files:
        return
    pods = states_in_store(context.store, context.namespace, context.options.now)
    evaluated = {evaluated.ref: evaluated for evaluated in context.evaluated_workloads}
    reasons: dict[tuple[str, str], list[tuple[ObjectRef, RunState]]] = {}
    for ref, state in all_states(context.store, context.namespace, pods):
        # What waits for its turn in a queue is as it should be; what a queue never admits has a rule of its own.
        if not waits_or_fails(state) or state.reason in {"Quota", "Queue"}:
            continue
        if ref in evaluated and is_negative(context.verdict(evaluated[ref])):
            continue
        reasons.setdefault((state.state, state.reason), []).append((ref, state))
    for (word, reason), members in reasons.items():
        yield _held_up_broken(context, word, reason, members)


def _held_up_broken(
    context: CheckContext, word: str, reason: str, members: list[tuple[ObjectRef, RunState]]
) -> Diagnostic:
    (first, state), *_ = members
    waiting = _find_waiting_pod(context, first, state) if context.shows(HELD_UP.code, first) else None
    nearest = _format_nearest_node(context, waiting) if waiting is not None else ""
    names = ", ".join(str(ref) for ref, _ in members[:_NAMED])
    more = f" and {len(members) - _NAMED} more" if len(members) > _NAMED else ""
    values = {
        "word": word,
        "reason": reason,
        "count": str(len(members)),
        "workloads": f"{names}{more}",
        # The finding names the only one.
        "about": f"{len(members)} {word.removesuffix('s')} ({reason}): {names}{more}"
        if len(members) > 1
        else f"{word} ({reason})",
        "why": joined(state.message or state.detail or reason, nearest, between=""),
    }
    fix = next(iter(_find_node_fixes(context, first, waiting)), None) if waiting is not None else None
    if fix is None:
        return Diagnostic(first, values, remedy=state.next)
    return Diagnostic(first, values, remedy=fix.text, commands=fix.commands)


def _find_waiting_pod(context: CheckContext, ref: ObjectRef, state: RunState) -> Pod | None:
    """Return the pod that waits for a node, where nodes are at hand as the scheduler sees them: they are read for no
    list.
    """
    if state.reason != "NoNode" or not context.store.covered(ReadRequest("Node.of/scheduler")).is_known:
        return None
    pod = context.store.get("Pod", state.pod or ref.name, ref.namespace)
    return pod if isinstance(pod, Pod) else None


def _format_nearest_node(context: CheckContext, pod: Pod) -> str:
    """Return what the nearest node lacks for a pod that waits for one."""
    from kubectl_kres.reports.scheduling.report import report_nodes  # noqa: PLC0415 - only where a pod waits for a node

    reported = report_nodes(context.store, pod, context.options.server.version[1])
    near = reported[0].nearest if reported is not None else None
    if near is None:
        return ""
    short = " and ".join(f"{shortage.short_by} of {shortage.resource}" for shortage in near.shortages)
    lacks = "; ".join(filter(None, (short and f"short by {short}", *near.obstacles)))
    return f" (nearest: {near.node}: {lacks})"


def _find_node_fixes(context: CheckContext, ref: ObjectRef, pod: Pod) -> tuple[Remedy, ...]:
    from kubectl_kres.reports.explain.node_fixes import find_node_fixes  # noqa: PLC0415 - as above

    return find_node_fixes(context.store, ref, pod, context.options)


HELD_UP = Rule(
    code="KRES111",
    title="admitted, and does not run",
    severity="error",
    reason="Nothing refuses these pods, and still they do not work: they wait, or end again and again.",
    remedy="The explanation of each says what it waits for and what to do next.",
    message="{about}: {why}",
    find=find_held_up,
)


def find_object_refused(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the objects of files that the server would refuse, as their explanations say; what exists was admitted."""
    refused_objects = context.combined.refused if context.combined is not None else ()
    beside = {refused.subject: refused.message for refused in refused_objects}
    policies = [
        Subject(ref, BY_KIND[ref.kind])
        for ref in beside
        if ref.kind in {"LimitRange", "ResourceQuota"} and ref.namespace == context.namespace
    ]
    if context.counted or policies:
        yield from _find_refused_subjects(context, (*context.counted, *policies), beside)
    counted = {reach.subject for reach in context.combined.workloads} if context.combined is not None else set()
    for ref, message in beside.items():
        edited = ref.kind == "HorizontalPodAutoscaler" or (ref.kind in WORKLOADS and ref not in counted)
        if edited and ref.namespace == context.namespace:
            yield _refused_as_written(ref, message)


def _refused_as_written(ref: ObjectRef, message: str) -> Diagnostic:
    return Diagnostic(ref, {"outcome": "refused", "why": message}, remedy="correct the field that the message names")


def _find_refused_subjects(
    context: CheckContext, subjects: Iterable[Subject], beside: Mapping[ObjectRef, str]
) -> Iterator[Diagnostic]:
    from kubectl_kres.reports.namespace.explain_policy import explain_policy  # noqa: PLC0415 - files alone need it

    for subject in subjects:
        try:
            answer = explain_policy(context.store, subject, context.options)
        except KresError as error:
            if subject.ref in beside:
                yield _refused_as_written(subject.ref, beside[subject.ref])
            else:
                context.unanswered.append((subject, error))
            continue
        verdict = answer.verdict
        if verdict is not None and is_negative(verdict):
            reason = next((finding.text for finding in verdict.findings if finding.text), verdict.message)
            first = next(iter(answer.fixes), None)
            text, commands = (first.text, first.commands) if first is not None else ("", ())
            yield Diagnostic(subject.ref, {"outcome": verdict.outcome, "why": reason}, remedy=text, commands=commands)
        elif subject.ref in beside:
            values = {"outcome": "refused beside the others", "why": beside[subject.ref]}
            yield Diagnostic(subject.ref, values, remedy="raise the quota for all of them together, or apply fewer")


OBJECT_REFUSED = Rule(
    code="KRES116",
    title="an object of a file is refused",
    severity="error",
    reason="Applying the file ends with this refusal: the object is not stored, or stays as it was.",
    remedy="Its explanation (explain -f) names each way to get it admitted.",
    message="{outcome}: {why}",
    find=find_object_refused,
)

RULES = (
    PODS_MISSING,
    NEXT_POD,
    ORDER,
    ROLLOUT,
    SIDE_BY_SIDE,
    AUTOSCALER,
    HELD_UP,
    OBJECT_REFUSED,
)
