"""The explanation of a pod, or of the next pod of a workload: what sets its resources, or what refuses it."""

# ruff: noqa: PLC0415 - what only files, live pods, refusals and pods without a node are held against
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Draft
from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod import aggregate as qos
from kubectl_kres.admission.quota.quota_admission import charges, pod_request
from kubectl_kres.admission.request.new_pod import Policies, admit, initial_qos_class, quota_request
from kubectl_kres.admission.sentences import QuotaExceeded, read_refusal
from kubectl_kres.errors import UsageError
from kubectl_kres.model.admission_objects import WEBHOOKS
from kubectl_kres.model.kinds import is_known
from kubectl_kres.model.pod import Pod
from kubectl_kres.provenance.journal import Assumption, NeedsScopedQuota, WithoutWebhooks
from kubectl_kres.quantity import parse
from kubectl_kres.record import Wording, joined
from kubectl_kres.reports.common.analysis import Analysis, PodManifest
from kubectl_kres.reports.common.effective_policies import NamespacePolicies, demands_on_pod, policies
from kubectl_kres.reports.common.explanation import (
    ContainerValues,
    Demand,
    EvaluationOptions,
    Explanation,
    Fact,
    FailedRead,
    Injection,
    Note,
    QuotaCost,
    RunState,
    Subject,
    UnknownNumber,
    Verdict,
    find_unread,
)
from kubectl_kres.reports.common.nodes import NodeReport, waits_for_node
from kubectl_kres.reports.common.remedy import (
    DeleteObject,
    PassingRoom,
    Remedy,
    SetValue,
    after_sentences,
    untested_remedies,
)
from kubectl_kres.reports.common.replicas import Replicas, pods_of, reason_for_no_pods
from kubectl_kres.reports.common.system import (
    analysis_by_system,
    apply_admitters,
    describe,
    kinds_of,
    object_history,
    pod_maker,
    quota_keepers,
    remedies_of_systems,
    turn_of,
)
from kubectl_kres.reports.common.system_parts import hold
from kubectl_kres.reports.explain.advice import Advice, InTwoSteps, NodeAdvice, UseLessMemory
from kubectl_kres.reports.explain.further import further_findings
from kubectl_kres.reports.explain.object_state import object_state
from kubectl_kres.reports.pod import events
from kubectl_kres.reports.pod.applied_pod import as_update, stored_pod_of
from kubectl_kres.reports.pod.events import not_running_reason
from kubectl_kres.reports.pod.manifest_source import find_manifest
from kubectl_kres.reports.pod.needs import list_read_requests, node_needs
from kubectl_kres.reports.pod.pod_claims import add_charges, with_account
from kubectl_kres.reports.pod.values import ValueTable, names_of, totals
from kubectl_kres.reports.pod.verdict import is_negative, outcome_word, verdict_of, with_outcome
from kubectl_kres.reports.remedies.keepers import with_permanence
from kubectl_kres.reports.rollout import wanted_pods
from kubectl_kres.reports.rollout.observed_pods import with_seen
from kubectl_kres.store.store import Store

__all__ = ["Analysis", "Explanation", "explain", "list_read_requests"]

_NO_ROOM = PassingRoom()
#: States of reads that the server refused, or that failed.
_REFUSED = frozenset({"denied", "failed"})


def explain(store: Store, subject: Subject, options: EvaluationOptions) -> Explanation:
    """Return the explanation. Raises NotFound if the object is not in the store, UsageError if it makes no pods."""
    return build_explanation(store, subject, options, analysis_of(store, subject, options))


def analysis_of(store: Store, subject: Subject, options: EvaluationOptions, *, journal: bool = True) -> Analysis:
    """Return the analysis of a subject. ``journal`` False: only outcomes. Raises what ``explain`` raises."""
    analysis_made = analysis_by_system(store, subject, options, journal=journal)
    if analysis_made is not None:
        return analysis_made
    raw = subject.raw if subject.ref.kind == "Pod" else None
    analysis = analysis_from(store, subject, options, find_manifest(store, subject), raw, journal=journal)
    if subject.raw is None:
        return with_account(store, subject, analysis)
    if (stored := stored_pod_of(store, subject)) is not None and all(item.code != 400 for item in analysis.outcomes):
        return as_update(analysis, subject.raw, stored)
    from kubectl_kres.reports.pod import preflight

    analysis = preflight.with_workload_warnings(subject, options, analysis)
    evaluated = preflight.check_file(store, subject, options, analysis)
    return (
        apply_admitters(store, subject, options, evaluated, "workload")
        if evaluated.outcomes is analysis.outcomes
        else evaluated
    )


def analysis_from(
    store: Store,
    subject: Subject,
    options: EvaluationOptions,
    manifest: PodManifest,
    raw: Mapping[str, Any] | None = None,
    *,
    journal: bool = True,
) -> Analysis:
    """Return the analysis of the pod of ``manifest`` without its claims. ``raw``: as for ``analyse``."""
    namespace_policies = policies(store, subject.ref.namespace, options.server)

    def with_systems(manifest: PodManifest) -> Analysis:
        analysis = analyse(manifest, namespace_policies, options, raw, journal=journal)
        return apply_admitters(store, subject, options, analysis)

    return with_seen(store, subject, with_systems(manifest), with_systems) if options.seen else with_systems(manifest)


def analysis_of_another(store: Store, subject: Subject, options: EvaluationOptions) -> Analysis:
    """Return the analysis of a new pod like the subject. Raises what ``explain`` raises."""
    analysis_made = analysis_by_system(store, subject, options, another=True)
    if analysis_made is not None:
        return analysis_made
    manifest = structs.replace(find_manifest(store, subject), live=None)
    analysis = analysis_from(store, subject, options, manifest, subject.raw if subject.ref.kind == "Pod" else None)
    return with_account(store, subject, analysis)


def analyse(
    manifest: PodManifest,
    policies: NamespacePolicies,
    options: EvaluationOptions,
    raw: Mapping[str, Any] | None = None,
    *,
    journal: bool = True,
) -> Analysis:
    """Return the analysis of a pod after admission. ``raw``: the pod as a file would send it, whose unknown fields
    bring warnings.

    Of several outcomes the one that a live pod has comes first.
    """
    live = manifest.live
    if raw is not None:
        from kubectl_kres.admission.request.create import create_pod

        outcomes = create_pod(raw, policies.policies, options.server)
    else:
        counted = live is not None
        outcomes = admit(manifest.pod, policies.policies, options.server, journal=journal, counted=counted)
    if live is not None and len(outcomes) > 1:
        outcomes = tuple(sorted(outcomes, key=lambda outcome: not matches_live_pod(outcome, live)))
    return Analysis(manifest, policies, outcomes, server=options.server)


def matches_live_pod(outcome: Outcome, live: Pod) -> bool:
    """Return whether the outcome stores a pod with exactly the requests and limits of ``live``."""
    from kubectl_kres.reports.pod.resource_view import values_of, written_pod

    return outcome.object is not None and values_of(outcome.object) == values_of(written_pod(live))


class Decision(Struct, frozen=True):
    """The decision about a pod, its values, and what to change. Explanations and differences are made from it."""

    verdict: Verdict
    containers: tuple[ContainerValues, ...]
    advice: Advice
    unread: tuple[FailedRead, ...]
    seen: tuple[Fact, ...]
    pods: Replicas | None
    table: ValueTable

    @property
    def certain(self) -> bool:
        """Return whether no value depends on an order."""
        return not any(value.alternatives for container in self.containers for value in container.values)

    @property
    def complete(self) -> bool:
        """Return whether all that it needs could be read."""
        return not any(failed_read.required for failed_read in self.unread)


def build_decision(store: Store, subject: Subject, analysis: Analysis, *, remedies: bool = True) -> Decision:
    """Return the decision: an explanation without sums, costs and assumptions. ``remedies`` False: without these."""
    manifest, outcomes = analysis.manifest, analysis.outcomes
    facts, pods = _facts(store, subject, manifest), _replicas(store, subject, manifest)
    table = ValueTable(store, manifest, outcomes, analysis.listed)
    containers, left_out = table.containers(), list_unread(store, subject)
    failed_reads = (*left_out, *analysis.unread)
    needed_pods = wanted_pods.count_needed_pods(store, subject, analysis, pods, facts)
    verdict = with_outcome(verdict_of(outcomes), failed_reads, needed_pods)
    if subject.raw is not None and verdict.outcome == "admitted" and any(_unseen_webhooks(analysis)):
        verdict = structs.replace(verdict, outcome="admitted-as-far-as-seen")
    advice = Advice()
    if remedies and outcome_word(verdict) != "full":
        advice = _advice(store, subject, analysis, verdict, facts, pods, left_out)
    if advice.fixes and any(finding.rule.startswith("limitrange/") for finding in verdict.findings):
        from kubectl_kres.reports.remedies.compose import own_defaults

        defaulted = own_defaults(verdict, containers)
        advice = Advice((*untested_remedies((defaulted,) if defaulted else ()), *advice.fixes), advice.note)
    advice = structs.replace(advice, fixes=with_permanence(store, subject, advice.fixes))
    return Decision(verdict, containers, advice, failed_reads, facts, pods, table)


def _unseen_webhooks(analysis: Analysis) -> Iterator[Assumption]:
    """Yield the webhooks that are asked about the next pod and of which nothing says what they do."""
    for assumed in (*analysis.assumed, *(analysis.made_pod.assumptions if analysis.made_pod is not None else ())):
        source = assumed.source
        if assumed.code != "webhook/not-computed" or source is None:
            continue
        if source.kind == WEBHOOKS[1] or (source.kind == WEBHOOKS[0] and analysis.seen_pod is None):
            yield assumed


def build_explanation(store: Store, subject: Subject, options: EvaluationOptions, analysis: Analysis) -> Explanation:
    manifest, policies, outcomes = analysis.manifest, analysis.policies, analysis.outcomes
    first, space = outcomes[0], subject.ref.namespace
    draft: Draft | None = first.draft
    # What LimitRanges would fill in is missing from a template: it says nothing about quotas.
    charged = None if analysis.undefaulted else draft
    stated_class = _find_stated_class(manifest, options.server)
    decision = build_decision(store, subject, analysis, remedies=options.remedies)
    verdict, containers, advice = decision.verdict, decision.containers, decision.advice
    pods, table = decision.pods, decision.table
    state = _run_state(store, subject, options, decision)
    updated = stored_pod_of(store, subject) is not None
    nodes = None if updated else _nodes(store, subject, analysis, containers, options.server)
    turn = None if updated else turn_of(store, subject, analysis)
    if turn is not None and turn.state is not None and not is_negative(verdict):
        state = _with_turn(state, turn.state)
        advice = Advice(turn.fixes) if options.remedies and turn.fixes else advice
    advice = _with_next_step(_with_node_fixes(advice, nodes, state, verdict), state, verdict, nodes)
    fixes = with_permanence(store, subject, advice.fixes)
    refused = [keeper.explain_refusals(store, space, verdict.findings) for keeper in quota_keepers()]
    return Explanation(
        subject=subject.ref,
        start=manifest.text,
        verdict=verdict,
        fixes=fixes,
        note=advice.note,
        one_more=wanted_pods.list_spare_pods(verdict),
        state=_state(store, subject),
        containers=containers,
        totals=tuple(totals(draft)) if draft is not None else (),
        qos=qos.explain(draft, stated_class) if draft is not None else None,
        qos_alternatives=() if stated_class else tuple(sorted(_other_classes(outcomes))),
        replicas=pods,
        live=manifest.live is not None,
        live_qos=manifest.live.status.qos_class if manifest.live is not None else "",
        quotas=()
        if updated
        else tuple(sorted(_quota_costs(analysis, charged, options, verdict), key=lambda cost: not cost.exceeded)),
        demands=_demands(manifest, policies.policies, charged),
        facts=decision.seen,
        scheduling=nodes,
        warnings=first.warnings,
        assumptions=(
            *_assumptions(manifest, policies, options, table.injected_containers),
            *_limited_by_default(store, subject, analysis, options.server),
            *analysis.assumed,
            *(analysis.claims.assumptions if analysis.claims is not None else ()),
            *(
                analysis.made_pod.assumptions
                if analysis.made_pod is not None
                else _file_assumptions(store, subject, outcomes)
            ),
        ),
        unread=(*decision.unread, *_nodes_unread(store, subject, manifest)),
        quota_parts=hold(*(part for answer in refused for part in answer.parts)),
        edits=table.edits(),
        overhead={name: str(quantity) for name, quantity in draft.overhead.items()} if draft is not None else {},
        certain=(certain := decision.certain),
        order=() if certain else first.order,
        listed=() if certain or not analysis.listed else analysis.listed[0],
        complete=decision.complete,
        journal=first.journal,
        pod_parts=analysis.parts if turn is None or turn.part is None else {**analysis.parts, **hold(turn.part)},
        autoscaled=wanted_pods.autoscaler_scaling(store, subject, analysis, pods),
        run_state=state,
        further=()
        if updated or manifest.live is not None
        else further_findings(manifest.pod, charged, policies.policies, options.server, verdict),
    )


def _run_state(store: Store, subject: Subject, options: EvaluationOptions, decision: Decision) -> RunState | None:
    """Return the state of the object, with what set the limit of a container that was killed."""
    if subject.raw is not None:
        return None
    state = object_state(store, subject.ref, options.now, decision.verdict, decision.seen)
    if state is None or state.reason != "OOMKilled":
        return state
    values = (
        value
        for container in decision.containers
        if container.name == state.container
        for value in container.values
        if (value.side, value.resource) == ("limits", "memory")
    )
    limit = next(values, None)
    if limit is None or not (limit.value or limit.live):
        return state
    return structs.replace(state, limit_today=structs.replace(limit, steps=()))


def _with_turn(state: RunState | None, turn: RunState) -> RunState:
    """Return why an object waits for its turn, with how many pods that is about."""
    if state is None:
        return turn
    return structs.replace(turn, since=state.since or turn.since, pods=state.pods, wanted=state.wanted)


def _with_node_fixes(advice: Advice, nodes: NodeReport | None, state: RunState | None, verdict: Verdict) -> Advice:
    """Return the advice with changes that let the pod onto a node, where nothing else blocks it."""
    if nodes is None or advice.fixes or is_negative(verdict) or (state is not None and state.reason != "NoNode"):
        return advice
    if state is not None and state.object is not None:
        # Where it goes depends on another pod, which waits, too.
        return advice
    if not nodes.fixes:
        stuck = nodes.complete and nodes.nodes and not nodes.fitting and state is None
        note = Note(next=_no_single_change(nodes)) if stuck and advice.note == Note(nothing=True) else advice.note
        return Advice((), note)
    from kubectl_kres.reports.scheduling.remedies import node_fixes

    note = advice.note
    return Advice(node_fixes(nodes), _something_to_say(structs.replace(note, nothing=False)) if note else None)


def _with_next_step(
    advice: Advice, state: RunState | None, verdict: Verdict, nodes: NodeReport | None = None
) -> Advice:
    """Return the advice with "nothing to change" only for an object that runs, has ended or is starting."""
    if state is None or advice.fixes or state.state in {"runs", "ended", "starting"} or is_negative(verdict):
        return advice
    note = advice.note or Note(nothing=True)
    if not note.nothing:
        return advice
    from kubectl_kres.reports.run_state.next_steps import NextStep

    step = state.next
    if isinstance(step, NextStep) and step.reason == "NoNode" and nodes is not None:
        step = _no_single_change(nodes) if nodes.is_read and nodes.nodes else NodeAdvice(seen=False)
    return Advice((), _something_to_say(structs.replace(note, nothing=False, next=step)))


def _no_single_change(nodes: NodeReport) -> NodeAdvice:
    return NodeAdvice(room=tuple(f"{asked.resource} {asked.amount}" for asked in nodes.requests))


def _something_to_say(note: Note) -> Note | None:
    return note if note != Note() else None


def verdict_of_analysis(store: Store, subject: Subject, analysis: Analysis) -> Verdict:
    """Return the verdict of an explanation; the outcomes are enough for it."""
    pods = _replicas(store, subject, analysis.manifest)
    return _verdict(store, subject, analysis, pods, list_unread(store, subject))[0]


def verdict_and_sentences(
    store: Store, subject: Subject, analysis: Analysis, failed_reads: tuple[FailedRead, ...]
) -> tuple[Verdict, tuple[Wording, ...], Replicas | None, tuple[Fact, ...]]:
    """Return the verdict of an explanation, an untested remedy in a sentence for each refusal, and the replicas.

    The last value are the cluster's facts about it, where they were looked at.

    ``failed_reads``: what could not be read, as ``list_unread`` has it without the analysis.
    """
    pods = _replicas(store, subject, analysis.manifest)
    verdict, facts = _verdict(store, subject, analysis, pods, failed_reads)
    if outcome_word(verdict) in {"admitted", "full"}:
        return verdict, (), pods, facts
    if verdict.allowed is not True:
        return verdict, remedy_sentences(store, subject, analysis), pods, facts
    return (
        verdict,
        tuple(remedy.text for remedy in _advice(store, subject, analysis, verdict, facts, pods, failed_reads).fixes),
        pods,
        facts,
    )


def _verdict(
    store: Store, subject: Subject, analysis: Analysis, pods: Replicas | None, failed_reads: tuple[FailedRead, ...]
) -> tuple[Verdict, tuple[Fact, ...]]:
    """Return the verdict and the replicas with the cluster's facts about the object, where those were looked at."""
    bare = verdict_of(analysis.outcomes)
    wants = bare.allowed is not True or (pods.missing_pods if pods is not None else analysis.manifest.live is None)
    # Events are many, and say nothing that matters of what has all of its pods.
    facts = _facts(store, subject, analysis.manifest) if wants else ()
    needed_pods = wanted_pods.count_needed_pods(store, subject, analysis, pods, facts)
    return with_outcome(bare, (*failed_reads, *analysis.unread), needed_pods), facts


def remedy_sentences(store: Store, subject: Subject, analysis: Analysis) -> tuple[Wording, ...]:
    """Return an untested remedy in a sentence for each refusal: the short cause of a list."""
    from kubectl_kres.reports.remedies.commands import add_access_flags

    texts = _sentences(store, subject, analysis, _replicas(store, subject, analysis.manifest))
    return add_access_flags(store.origin, _add_position(texts, subject, analysis.manifest, analysis.outcomes[0]))


def _advice(
    store: Store,
    subject: Subject,
    analysis: Analysis,
    verdict: Verdict,
    facts: Sequence[Fact],
    pods: Replicas | None,
    failed_reads: Sequence[FailedRead],
) -> Advice:
    """Return the remedies of a decision, and notes beside them."""
    if (stored := stored_pod_of(store, subject)) is not None:
        from kubectl_kres.reports.remedies.pod_update import update_fixes

        refused = verdict.allowed is False
        return Advice(update_fixes(store, subject, stored)) if refused else Advice((), Note(nothing=True))
    blind = any(failed_read.required for failed_read in failed_reads)
    if verdict.blocked is not None and not (blind and verdict.blocked.rule.startswith("quota/")):
        from kubectl_kres.reports.remedies.unseen_refusal import unseen_fixes

        return Advice(unseen_fixes(store, subject, analysis, verdict))
    if verdict.changed and not blind and outcome_word(verdict) == "admitted":
        return Advice((), Note(changed=verdict.changed))
    room = _passing_room(store, subject, analysis, verdict)
    if analysis.made_pod is not None:
        if remedies := remedies_of_systems(store, subject, analysis):
            remedies = _sort_for_waiting(store, subject, remedies)
            return Advice((*room.by_itself, *remedies, *room.by_deletion))
        texts = remedy_sentences(store, subject, analysis)
        passing = (*room.by_itself, *untested_remedies(texts), *room.by_deletion)
        return Advice(passing, None if passing else Note(nothing=True))
    from kubectl_kres.reports.remedies import search
    from kubectl_kres.reports.remedies.typos import suspect_figures

    # What others lack is no fix of a new object whose pods all come.
    ref = subject.ref
    new = subject.raw is not None and store.get(ref.kind, ref.name, ref.namespace) is None
    comes = new and outcome_word(verdict) == "admitted"
    suspects = tuple(suspect_figures(analysis.manifest.pod, (*analysis.outcomes, *analysis.then)))
    rules = [finding.rule for outcome in analysis.outcomes if outcome.refusal for finding in outcome.refusal.findings]
    fixes = () if all(rule.startswith("quota/") for rule in rules) else remedies_of_systems(store, subject, analysis)
    # What a system sets no other value of the template mends: its edits come first.
    remedies = (
        () if comes or any(fix.edits for fix in fixes) else search.remedies(store, subject, analysis, analysis.server)
    )
    if remedies:
        others = search.remaining_outcomes(analysis)
        rest = remedy_sentences(store, subject, structs.replace(analysis, outcomes=others, then=())) if others else ()
        more = () if any(isinstance(edit, DeleteObject) for fix in remedies for edit in fix.edits) else room.by_deletion
        remedies = (*room.by_itself, *after_sentences(remedies, rest), *more)
        return Advice(remedies, _something_to_say(Note(suspects=suspects)))
    if fixes:
        return Advice(fixes, _something_to_say(Note(suspects=suspects)))
    if any(outcome.refusal is not None for outcome in analysis.outcomes):
        texts = remedy_sentences(store, subject, analysis)
        note = Note(suspects=suspects, search="" if search.remaining_outcomes(analysis) else "ended")
        passing = (*room.by_itself, *untested_remedies(texts), *room.by_deletion)
        return Advice(passing, _something_to_say(note))
    admitted = _admitted_advice(analysis, facts, pods, blind=blind)
    if admitted is not None:
        return admitted
    if is_negative(verdict):
        return Advice(untested_remedies((InTwoSteps(),)))
    return Advice((), Note(nothing=True, suspects=tuple(suspect for suspect in suspects if not suspect.refused)))


def _sort_for_waiting(store: Store, subject: Subject, remedies: tuple[Remedy, ...]) -> tuple[Remedy, ...]:
    """Return the fixes; of an object of a system that waits those first that it can use itself: edits of what its pod
    is made from help a new one only.
    """
    ref = subject.ref
    item = store.get(ref.kind, ref.name, ref.namespace) if subject.raw is None else None
    described = describe(item) if item is not None else None
    if described is None or not described.waits:
        return remedies
    return tuple(sorted(remedies, key=lambda fix: any(isinstance(edit, SetValue) for edit in fix.edits)))


def _passing_room(store: Store, subject: Subject, analysis: Analysis, verdict: Verdict) -> PassingRoom:
    """Return what gives room back in full quotas without raising them."""
    if verdict.allowed is not False:
        return _NO_ROOM
    from kubectl_kres.reports.remedies.passing_room import find_passing_room

    return find_passing_room(store, subject, analysis)


def _admitted_advice(analysis: Analysis, facts: Sequence[Fact], pods: Replicas | None, *, blind: bool) -> Advice | None:
    """Return the advice for a next pod that would be admitted; None: there is nothing to say."""
    owner, stuck = analysis.manifest.owner, _is_stuck(facts, pods)
    idle = reason_for_no_pods(owner) if pods is not None and not pods.wanted and owner is not None else None
    if idle is not None and stuck:
        return Advice((), Note(nothing=True, idle=idle))
    killed = next((fact for fact in facts if fact.reason == "OOMKilled"), None)
    if killed is not None:
        return Advice(untested_remedies((UseLessMemory(killed.container),)))
    if stuck:
        return Advice((), Note(search="unread" if blind else "passes"))
    return None


def _is_stuck(facts: Sequence[Fact], pods: Replicas | None) -> bool:
    wants = pods is None or bool(pods.missing_pods) or pods.failing or not pods.wanted
    return wants and any(fact.reason == "FailedCreate" for fact in facts)


def _sentences(store: Store, subject: Subject, analysis: Analysis, pods: Replicas | None) -> tuple[Wording, ...]:
    from kubectl_kres.reports.remedies.pod_remedy import remedies
    from kubectl_kres.reports.remedies.remedy_next import next_refusals

    names, space = names_of(analysis.manifest.pod), subject.ref.namespace
    kept = [keeper.explain_refusals(store, space, ()) for keeper in quota_keepers()]
    special = {rule: say for answer in kept for rule, say in answer.sentences.items()}
    maker = pod_maker(analysis)
    if maker is not None:
        return maker.sentences(analysis, names, special)
    limits, later = analysis.policies.policies.limits, (*analysis.then, *next_refusals(analysis))
    missing = pods.missing_pods if pods is not None else 1
    texts = remedies(analysis.outcomes, names, special, limits, missing)
    return tuple(dict.fromkeys((*texts, *remedies(later, names, special, limits, missing))))


def _add_position(
    texts: tuple[Wording, ...], subject: Subject, manifest: PodManifest, first: Outcome
) -> tuple[Wording, ...]:
    """Return the remedy of a text that is not a quantity, with its line in the file."""
    refusal = first.refusal
    if subject.locate is None or refusal is None or refusal.code != 400:
        return texts
    from kubectl_kres.reports.pod import preflight

    prefix = "" if preflight.stands_in_object(refusal.findings[0]) else manifest.prefix
    return joined(texts[0], f"({subject.locate(prefix + refusal.findings[0].path)})", between=" "), *texts[1:]


def _replicas(store: Store, subject: Subject, manifest: PodManifest) -> Replicas | None:
    """Return the pods of the workload itself; None for a pod, for a file, and where the numbers are not valid."""
    if manifest.owner is None or manifest.live is not None:
        return None
    try:
        return pods_of(store, subject.ref.kind, manifest.owner)
    except UsageError:
        return None


def _quota_costs(
    analysis: Analysis, draft: Draft | None, options: EvaluationOptions, verdict: Verdict
) -> Iterator[QuotaCost]:
    """Yield the quota costs of the next pod with its claims, also where something else refused it.

    What the server says that it asked for counts more than what is computed. A live pod is in ``used`` with its own
    values, resized or not; only the next one needs room.
    """
    if draft is None:
        return
    manifest, policies = analysis.manifest, analysis.policies.policies
    request = quota_request(manifest.pod, draft)
    claims = analysis.claims.charges if analysis.claims is not None else ()
    objects: Iterable[QuotaCharge] = ()
    if analysis.account is not None:
        from kubectl_kres.admission.request.pod_objects import object_charges

        objects = object_charges(analysis.account.with_pod, policies.quotas)
    lacking = {demand.quota for demand in demands_on_pod(request, policies.quotas) if demand.missing}
    all_charges = add_charges((*charges(request, policies.quotas), *claims, *objects))
    costs = quota_costs((_as_asked(charge, verdict) for charge in all_charges), counted=False)
    next_answer = tuple(structs.replace(cost, fits=None) if cost.quota in lacking else cost for cost in costs)
    if manifest.live is None:
        yield from next_answer
        return
    another = {cost.quota: cost for cost in next_answer}
    for charge in charges(pod_request(manifest.live, options.server), policies.quotas):
        cost = another.get(charge.quota)
        fits, over = (cost.fits, cost.exceeded) if cost is not None else (None, ())
        yield QuotaCost(charge.quota, charge, counted=True, fits=fits, exceeded=over)


def _as_asked(charge: QuotaCharge, verdict: Verdict) -> QuotaCharge:
    """Return the charge with the amounts that the server's last refusal by this quota names, where something adds."""
    blocked = verdict.blocked
    if blocked is None or not isinstance(blocked.cause, Injection):
        return charge
    refusal = read_refusal(blocked.message)
    if not isinstance(refusal, QuotaExceeded) or refusal.quota != charge.quota:
        return charge
    asked = {name: amount for name, amount in refusal.requested.items() if name in charge.hard}
    after = {name: str(parse(charge.used.get(name, "0")) + parse(amount)) for name, amount in asked.items()}
    return structs.replace(charge, requested={**charge.requested, **asked}, after={**charge.after, **after})


def _state(store: Store, subject: Subject) -> str:
    ref = subject.ref
    return not_running_reason(ref.kind, store.get(ref.kind, ref.name, ref.namespace)) if subject.raw is None else ""


def _demands(manifest: PodManifest, policies: Policies, draft: Draft | None) -> tuple[Demand, ...]:
    return tuple(demands_on_pod(quota_request(manifest.pod, draft), policies.quotas)) if draft is not None else ()


def quota_costs(costs: Iterable[QuotaCharge], *, counted: bool) -> Iterator[QuotaCost]:
    """Yield the cost per quota, with how many more such pods fit. ``counted``: ``used`` has the object already."""
    for charge in costs:
        over = tuple(name for name in charge.after if parse(charge.after[name]) > parse(charge.hard[name]))
        yield QuotaCost(charge.quota, charge, counted, wanted_pods.room_for(charge), over)


def _find_stated_class(manifest: PodManifest, server: Server) -> str:
    """Return the class that the status of a pod in a file states, if the server keeps it."""
    return initial_qos_class(manifest.pod, server) if manifest.live is None else ""


def _other_classes(outcomes: Sequence[Outcome]) -> set[str]:
    drafts = {id(outcome.draft): outcome.draft for outcome in outcomes if outcome.draft is not None}
    classes = [qos.compute_class(draft) for draft in drafts.values()]
    return set(classes) - set(classes[:1])


def _facts(store: Store, subject: Subject, manifest: PodManifest) -> tuple[Fact, ...]:
    item = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace) if subject.raw is None else None
    history = object_history(item) if item is not None else None
    if history is not None and history.facts is not None:
        return (*history.facts, *(events.pod_facts(manifest.live) if manifest.live is not None else ()))
    if manifest.live is not None:
        return tuple(events.pod_facts(manifest.live))
    if manifest.owner is not None:
        facts = events.workload_facts(store, subject.ref.kind, manifest.owner)
        return wanted_pods.template_facts(store, manifest.owner, facts) if subject.ref.kind == "Deployment" else facts
    return ()


def _nodes(
    store: Store, subject: Subject, analysis: Analysis, containers: Sequence[ContainerValues], server: Server
) -> NodeReport | None:
    """Return the nodes for a waiting pod: the explained one, or a workload's first; of a file for its next pod."""
    pod = analysis.manifest.live or _find_waiting_pod(store, subject, analysis.manifest)
    if subject.raw is None and (pod is None or not waits_for_node(pod)):
        return None
    from kubectl_kres.reports.scheduling.explained_nodes import explain_nodes

    return explain_nodes(store, subject, pod, analysis, containers, server)


def fixes_of_nodes(store: Store, subject: Subject, options: EvaluationOptions) -> tuple[Remedy, ...]:
    """Return what lets a node take the pod of an object that waits for one, and nothing else of its explanation; where
    no single change does, that.

    Raises what ``explain`` raises.
    """
    from kubectl_kres.reports.scheduling.remedies import node_fixes

    analysis = analysis_of(store, subject, options)
    containers = ValueTable(store, analysis.manifest, analysis.outcomes, analysis.listed).containers()
    nodes = _nodes(store, subject, analysis, containers, options.server)
    if nodes is None or not nodes.nodes or not nodes.complete or nodes.fitting:
        return ()
    return node_fixes(nodes) or untested_remedies((_no_single_change(nodes),))


def _find_waiting_pod(store: Store, subject: Subject, manifest: PodManifest) -> Pod | None:
    """Return the pod of a stored workload that waits for a node."""
    owner = manifest.owner if subject.raw is None else None
    return events.waiting_pod(store, subject.ref.kind, owner) if owner is not None and manifest.live is None else None


def _nodes_unread(store: Store, subject: Subject, manifest: PodManifest) -> Iterator[FailedRead]:
    """Yield that nodes may not be read, for a workload; for a pod they are among its own needs."""
    waiting = _find_waiting_pod(store, subject, manifest)
    if waiting is not None:
        unread = find_unread(store, node_needs(store, waiting))
        yield from (failed_read for failed_read in unread if failed_read.state in _REFUSED)


def _file_assumptions(store: Store, subject: Subject, outcomes: Sequence[Outcome]) -> tuple[Assumption, ...]:
    """Return the assumptions about a manifest."""
    if not subject.file:
        return ()
    from kubectl_kres.reports.pod import preflight

    admitted = any(outcome.allowed for outcome in outcomes)
    more = (preflight.UNCHECKED,) if admitted else preflight.taken_as_new(store, subject, outcomes)
    return (*preflight.existing(store, subject), *more)


def _assumptions(
    manifest: PodManifest, policies: NamespacePolicies, options: EvaluationOptions, injected: Sequence[str]
) -> tuple[Assumption, ...]:
    stated = tuple(Assumption("server", "server/assumed", text) for text in options.assumptions)
    added = WithoutWebhooks(tuple(injected))
    without = (Assumption("spec", "webhook/not-computed", added, decisive=True),) if injected else ()
    supposed = (manifest.assumed,) if manifest.assumed else ()
    return (*supposed, *policies.assumptions, *without, *_gates(manifest.live or manifest.pod, options.server), *stated)


#: Classes that Google's servers admit only under a quota in their scope, outside of kube-system.
_CRITICAL, _OF_GOOGLE = frozenset({"system-node-critical", "system-cluster-critical"}), "-gke."


def _limited_by_default(store: Store, subject: Subject, analysis: Analysis, server: Server) -> Iterator[Assumption]:
    """Yield what the configuration of a server refuses that no client can read, before it has refused it.

    Source: GKE's quota plugin has the limitedResources of Kubernetes' documentation of PriorityClass quotas.
    """
    draft = analysis.outcomes[0].draft
    if _OF_GOOGLE not in store.origin.version or server.limited_resources or analysis.manifest.live is not None:
        return
    name = draft.priority_class if draft is not None else ""
    if name not in _CRITICAL or subject.ref.namespace == "kube-system":
        return
    quotas = analysis.policies.policies.quotas
    if not any(scope.scope_name == "PriorityClass" for quota in quotas for scope in quota.scopes):
        yield Assumption("spec.priorityClassName", "quota/limited-scope", NeedsScopedQuota(name))


def _gates(pod: Pod, server: Server) -> tuple[Assumption, ...]:
    """Return the assumptions about feature gates: none for a pod that uses no gated field."""
    if pod.spec.resources is None and not any(item.restart_policy for item in pod.spec.init_containers or ()):
        return ()
    from kubectl_kres.reports.pod.feature_gates import gates

    return gates(pod, server)


def list_unread(store: Store, subject: Subject, analysis: Analysis | None = None) -> tuple[FailedRead, ...]:
    """Return what could not be read or computed; not what assumptions already say."""
    not_read = find_unread(store, list_read_requests(store, subject))
    all_unread = tuple(failed_read for failed_read in not_read if failed_read.required or _is_reported(failed_read))
    return (*_number_unknown(subject), *all_unread, *(analysis.unread if analysis is not None else ()))


def _number_unknown(subject: Subject) -> Iterator[FailedRead]:
    """Yield that the number of pods is not known, for an object of a file whose kind is in no table."""
    kind, ref = subject.kind, subject.ref
    if subject.raw is None or is_known(kind):
        return
    from kubectl_kres.model.pod_places import has_places

    if not has_places(kind.group, kind.kind):
        yield FailedRead(ref.kind, "failed", ref.namespace, ref.name, UnknownNumber(kind.kind, kind.api_version))


def _is_reported(failed_read: FailedRead) -> bool:
    """Return whether something that only adds to an answer is reported when it could not be read."""
    if failed_read.kind in kinds_of("assumed"):
        return False
    if_refused = failed_read.kind in {"HorizontalPodAutoscaler", *kinds_of("if-refused")}
    return not if_refused or failed_read.state in _REFUSED
