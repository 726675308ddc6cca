"""Affinity assistants that get no pod: the verdict on the run, and the remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.admission.quota.quota_admission import Key, amounts, charges
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.explanation import Subject, Verdict
from kubectl_kres.reports.common.parts import Admits, Edit, Remedy
from kubectl_kres.reports.pod.verdict import verdict_of
from kubectl_kres.reports.remedies.room import RaisedHard
from kubectl_kres.reports.remedies.words import compose_remedy, join_words, raises
from kubectl_kres.simulate.rollout import SettledRollout
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import PipelineRun
from kubectl_kres.tekton.reports.remedies.changed_policies import changed_policies
from kubectl_kres.tekton.reports.remedies.claim_remedies import bound_edit, claim_remedies
from kubectl_kres.tekton.reports.remedies.config_edits import flag_edit
from kubectl_kres.tekton.reports.remedies.security_remedies import FLAG
from kubectl_kres.tekton.rules.controller.resolve import UsedPipeline
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace
from kubectl_kres.tekton.rules.controller.workspace_claims import assistants_claims
from kubectl_kres.tekton.rules.pipeline.pipeline_run import PER_RUN, Assistant, assistants


def without_pod(made: Sequence[Assistant], open_tasks: Sequence[str]) -> tuple[Assistant, ...]:
    """Return the assistants that get no pod although tasks that are still to run need them."""
    return tuple(assistant for assistant in made if assistant.refusals and set(assistant.tasks) & set(open_tasks))


def assistant_verdict(lacking: Sequence[Assistant], open_tasks: Sequence[str]) -> Verdict:
    """Return the verdict on a run whose tasks' pods need an assistant that gets no pod.

    Their affinity to it is required. Source: tekton pkg/internal/affinityassistant/transformer.go.
    """
    outcomes = []
    for assistant in lacking:
        tasks = [name for name in assistant.tasks if name in open_tasks]
        pods = f"the pod{'s' * (len(tasks) > 1)} of task{'s' * (len(tasks) > 1)} {join_words(tasks)}"
        whose = f" of workspace {assistant.workspace}" if assistant.workspace else ""
        for refusal in assistant.refusals:
            waits = any(finding.rule == "quota/exceeded" for finding in refusal.findings)
            finds = "find" if len(tasks) > 1 else "finds"
            until = f"{finds} no node before a quota has room" if waits else f"never {finds} a node"
            text = f"{pods} {until}: the affinity assistant{whose} gets none: {refusal.message}"
            outcomes.append(Outcome(False, refusal.code, structs.replace(refusal, message=text)))
    return verdict_of(outcomes)


def assistant_remedies(
    store: Store,
    subject: Subject,
    run: PipelineRun,
    pipeline: UsedPipeline,
    world: RunNamespace,
    lacking: Sequence[Assistant],
) -> tuple[Remedy, ...]:
    """Return the ways in which every assistant gets its pod, or none is needed; each is tried."""
    claims = [answer.claim for assistant in lacking for answer in assistant.claims]
    ways: list[Remedy] = []
    if claims:
        own = assistants_claims(run, lacking[0].name)
        ways += claim_remedies(store, subject, own, world.policies, world.server)
    else:
        for edits, changed in _list_attempts(store, subject, world, lacking):
            left = [
                assistant
                for assistant in assistants(run, pipeline, changed)
                if not assistant.claims and assistant.refusals
            ]
            if edits and not left:
                ways.append(compose_remedy(store, subject, edits, Admits(1, 1), 0))
                break
    edit = flag_edit(store, "coschedule", "disabled")
    without = compose_remedy(store, subject, [edit], Admits(1, 1), 0)
    text = f"{without.text}, for all runs: no assistant is made then, and tasks may run on different nodes"
    return (*ways, structs.replace(without, text=text)) if _can_help(world, claims) else tuple(ways)


def _can_help(world: RunNamespace, claims: Sequence[object]) -> bool:
    """Return whether runs without assistants start; claims that are refused are then those of the run itself."""
    return not claims and (world.config.flags.coschedule == "workspaces" or world.config.flags.coschedule in PER_RUN)


def _list_attempts(
    store: Store, subject: Subject, world: RunNamespace, lacking: Sequence[Assistant]
) -> Iterator[tuple[list[Edit], RunNamespace]]:
    findings = [finding for assistant in lacking for refusal in assistant.refusals for finding in refusal.findings]
    secured = structs.replace(world.config.flags, security_context=True)
    flag: list[Edit] = []
    if any(finding.rule == "tekton/pod-security" for finding in findings):
        flag = [flag_edit(store, FLAG, "true")]
        world = structs.replace(world, config=structs.replace(world.config, flags=secured))
    bounds = [*_bounds(findings, subject.ref.namespace)]
    changed = structs.replace(world, policies=changed_policies(world.policies, bounds))
    raised = [*_raise_quota_edits(lacking, changed)]
    edits = [*flag, *bounds, *raised]
    yield edits, structs.replace(world, policies=changed_policies(world.policies, edits))


def _bounds(findings: Sequence[Finding], namespace: str) -> Iterator[Edit]:
    edits = {edit.field: edit for finding in findings if (edit := bound_edit(finding, namespace)) is not None}
    yield from edits.values()


def _raise_quota_edits(lacking: Sequence[Assistant], world: RunNamespace) -> Iterator[Edit]:
    """Yield the raise of each quota that all assistants without a pod need."""
    used, hard = amounts(world.policies.quotas)
    need: dict[Key, int] = {}
    for assistant in lacking:
        draft = next((outcome.draft for outcome in assistant.outcomes if outcome.draft is not None), None)
        if draft is None:
            continue
        for charge in charges(quota_request(assistant.pod, draft), world.policies.quotas):
            for name, text in charge.requested.items():
                key = charge.quota, name
                need[key] = need.get(key, used.get(key, 0)) + parse(text).nano
    more = {key: amount for key, amount in need.items() if amount > hard[key]}
    yield from raises(world.policies, RaisedHard(more, {}, complete=True, rest=SettledRollout(0, 0, 0)))
