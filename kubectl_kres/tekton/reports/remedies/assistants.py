"""Affinity assistants that get no pod: the verdict on the run, and the remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.quota.quota_admission import Key, charges, required_hard, sum_price, with_price
from kubectl_kres.admission.request.new_pod import quota_request
from kubectl_kres.record import joined
from kubectl_kres.reports.common.explanation import Subject, Verdict
from kubectl_kres.reports.common.remedy import Edit, Remedy
from kubectl_kres.reports.pod.verdict import verdict_of
from kubectl_kres.reports.remedies.engine import RemedySearch, State, changed_policies, with_moved_bound
from kubectl_kres.reports.remedies.room import build_quota_raises
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import PipelineRun
from kubectl_kres.tekton.reports.remedies.claim_remedies import claim_remedies
from kubectl_kres.tekton.reports.remedies.run_trials import flag_edit
from kubectl_kres.tekton.reports.remedies.security_remedies import FLAG
from kubectl_kres.tekton.rules.base.config import has_change
from kubectl_kres.tekton.rules.controller.resolve import UsedPipeline
from kubectl_kres.tekton.rules.controller.taskrun import RunNamespace
from kubectl_kres.tekton.rules.controller.workspace_claims import assistants_claims
from kubectl_kres.tekton.rules.pipeline.pipeline_run import Assistant, assistants
from kubectl_kres.wording import join_words

_COSCHEDULE = "coschedule"


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
    if any(assistant.claims for assistant in lacking):
        claims = assistants_claims(run, lacking[0].name)
        return claim_remedies(store, subject, claims, world.policies, world.server)
    return tuple(_AssistantSearch(store, subject, run, pipeline, world).remedies())


class _AssistantSearch(RemedySearch[Sequence[Assistant]]):
    """Trials of a run: which assistants get no pod. Flags of Tekton stand by their names in a state."""

    def __init__(
        self, store: Store, subject: Subject, run: PipelineRun, pipeline: UsedPipeline, world: RunNamespace
    ) -> None:
        super().__init__(store, subject)
        self.run, self.pipeline, self.world = run, pipeline, world

    def evaluate(self, state: State) -> Sequence[Assistant]:
        """Return the assistants that get no pod."""
        changed = self._change_world(state)
        return [
            assistant
            for assistant in assistants(self.run, self.pipeline, changed)
            if not assistant.claims and assistant.refusals
        ]

    def passes(self, trial: Sequence[Assistant]) -> bool:
        """Return whether none lacks its pod."""
        return not trial

    def states(self) -> Iterator[State]:
        """Yield what gives all of them pods, then that none is made."""
        yield self.walk({}, self._correct, self.passes)
        yield {_COSCHEDULE: "disabled"}

    def edits(self, state: State) -> Iterator[Edit]:
        """Yield the flags, then bounds and quotas."""
        for target, to in state.items():
            yield flag_edit(self.store, target, to) if target in {FLAG, _COSCHEDULE} else to

    def compose(self, state: State, edits: Sequence[Edit]) -> Remedy:
        """Return the remedy, with what it is to make no assistant."""
        remedy = super().compose(state, edits)
        text = joined(
            remedy.text,
            "for all runs: no assistant is made then, and tasks may run on different nodes",
            between=", ",
        )
        return structs.replace(remedy, text=text) if _COSCHEDULE in state else remedy

    def _correct(self, state: State, trial: Sequence[Assistant]) -> State | None:
        """Return the state with the flag for Pod Security, else with a bound moved, else with room for all."""
        findings = [finding for assistant in trial for refusal in assistant.refusals for finding in refusal.findings]
        insecure = any(finding.rule == "tekton/pod-security" for finding in findings)
        if FLAG not in state and insecure and has_change("security-context-flag", self.world.config.version):
            return {FLAG: "true", **state}
        policies = self._change_world(state).policies
        return with_moved_bound(state, policies, findings, self.subject.ref.namespace) or self._raise(state, trial)

    def _raise(self, state: State, trial: Sequence[Assistant]) -> State:
        changed = self._change_world(state)
        quotas, price = changed.policies.quotas, dict[Key, int]()
        # Those that have room now take it from the others.
        made = assistants(self.run, self.pipeline, changed) if any(assistant.objects for assistant in trial) else trial
        for assistant in made:
            for creation, _ in assistant.objects:
                price = with_price(price, sum_price(charges(creation.request, quotas)))
            draft = next((outcome.draft for outcome in assistant.outcomes if outcome.draft is not None), None)
            if draft is not None:
                price = with_price(price, sum_price(charges(quota_request(assistant.pod, draft), quotas)))
        raised = build_quota_raises(self.world.policies, required_hard(quotas, price))
        return {**state, **{(edit.object, edit.field): edit for edit in raised}}

    def _change_world(self, state: State) -> RunNamespace:
        config = self.world.config
        flags = structs.replace(
            config.flags,
            security_context=config.flags.security_context or FLAG in state,
            coschedule=state.get(_COSCHEDULE, config.flags.coschedule),
        )
        policies = changed_policies(self.world.policies, state.values())
        return structs.replace(self.world, policies=policies, config=structs.replace(config, flags=flags))
