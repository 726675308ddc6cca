"""The remedies of claims of workspaces: less storage, other bounds, more of a quota, ended runs deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota import quota_admission
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.volume_claims import with_default_class
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.record import Sentence
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import DeleteObject, EditClaim, Remedy
from kubectl_kres.reports.remedies.engine import (
    RemedySearch,
    State,
    changed_policies,
    with_moved_bound,
    with_storage,
)
from kubectl_kres.reports.remedies.room import build_quota_raises
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.rules.controller.workspace_claims import ClaimAnswer, WorkspaceClaim, find_refused_claims
from kubectl_kres.tekton.rules.pipeline.pipeline_run import has_ended

_MI = 2**20 * 10**9
_STORAGE = "storage"
#: So many runs are deleted by one remedy.
_MOST_RUNS = 20


def claim_remedies(
    store: Store, subject: Subject, claims: Sequence[WorkspaceClaim], policies: Policies, server: Server
) -> tuple[Remedy, ...]:
    """Return the remedies with which all claims of a run are made, each tried; those in the run itself come first.

    ``claims``: all that the run makes.
    """
    search = _ClaimSearch(store, subject, claims, policies, server)
    refused = search.trial({})
    findings = [finding for answer in refused for refusal in answer.refusals for finding in refusal.findings]
    remedies = tuple(search.remedies()) if refused else ()
    if search.ended_runs or not any(finding.rule == "quota/exceeded" for finding in findings):
        return remedies
    return (*remedies, Remedy(DeleteEndedRuns()))


class DeleteEndedRuns(Sentence, frozen=True):
    """Runs that have ended still hold claims, which go with them."""


class _ClaimSearch(RemedySearch[Sequence[ClaimAnswer]]):
    """Trials of the new claims of a run: which are refused."""

    def __init__(
        self, store: Store, subject: Subject, claims: Sequence[WorkspaceClaim], policies: Policies, server: Server
    ) -> None:
        super().__init__(store, subject)
        self.claims = [claim for claim in claims if not claim.exists]
        self.policies, self.server = policies, server
        self.ended_runs = _ended_runs(store, subject.ref.namespace)

    def evaluate(self, state: State) -> Sequence[ClaimAnswer]:
        """Return the claims that are refused."""
        claims = [
            structs.replace(claim, claim=with_storage(claim.claim, state[claim.path].to))
            if claim.path in state
            else claim
            for claim in self.claims
        ]
        gone = [claim for run in state if run in self.ended_runs for claim in self.ended_runs[run]]
        policies = changed_policies(self.policies, state.values())
        quotas = quota_admission.without_price(policies.quotas, self._price(gone, policies.quotas))
        return find_refused_claims(claims, structs.replace(policies, quotas=quotas), self.server)

    def passes(self, trial: Sequence[ClaimAnswer]) -> bool:
        """Return whether all are made."""
        return not trial

    def states(self) -> Iterator[State]:
        """Yield other sizes, then other bounds with more of the quotas, then fewer runs that have ended."""
        yield self._other_sizes()
        state = self.walk({}, self._widen, self.passes)
        policies = changed_policies(self.policies, state.values())
        try:
            price = self._price([with_default_class(claim.claim, policies) for claim in self.claims], policies.quotas)
        except Unparsable:
            return
        raised = build_quota_raises(policies, quota_admission.required_hard(policies.quotas, price))
        yield {**state, **{(edit.object, edit.field): edit for edit in raised}}
        # Runs whose claims hold nothing of what is short are left out.
        gone = self.find_fewest_parts([(ref, DeleteObject(ref)) for ref in [*self.ended_runs][:_MOST_RUNS]])
        yield self.reduce(gone, self.passes) if gone is not None else {}

    def _price(
        self, claims: Iterable[PersistentVolumeClaim], quotas: Sequence[quota_admission.Quota]
    ) -> dict[quota_admission.Key, int]:
        """Return what claims cost. Raises Unparsable."""
        price: dict[quota_admission.Key, int] = {}
        for claim in claims:
            price = quota_admission.with_price(
                price,
                quota_admission.sum_price(
                    quota_admission.charges(quota_admission.claim_request(claim, self.server), quotas)
                ),
            )
        return price

    def _widen(self, state: State, trial: Sequence[ClaimAnswer]) -> State | None:
        findings = [finding for answer in trial for refusal in answer.refusals for finding in refusal.findings]
        policies = changed_policies(self.policies, state.values())
        return with_moved_bound(state, policies, findings, self.subject.ref.namespace)

    def _other_sizes(self) -> State:
        """Return another size of each claim that is refused for its size: what a bound asks for, or the room that
        there is.
        """
        state: dict[str, EditClaim] = {}
        for answer in self.trial({}):
            path, size = answer.claim.path, _storage(answer.claim.claim)
            fit = size and _find_fitting_size(answer, size, self.policies, len(self.claims))
            if size is not None and fit is not None and fit.nano and path not in state:
                field = f"{path}.spec.resources.requests[{_STORAGE}]"
                state[path] = EditClaim(self.subject.ref, field, _STORAGE, str(fit), str(size))
        return state


def _storage(claim: PersistentVolumeClaim) -> Quantity | None:
    requests = claim.spec.resources.requests if claim.spec.resources is not None else None
    text = (requests or {}).get(_STORAGE)
    return None if text is None else parse(str(text))


def _find_fitting_size(answer: ClaimAnswer, size: Quantity, policies: Policies, count: int) -> Quantity | None:
    """Return the nearest size; None: it is not the size that is refused, or claims share the room."""
    nano = size.nano
    for refusal in answer.refusals:
        for finding in refusal.findings:
            if finding.rule in {"limitrange/min", "limitrange/max"} and finding.resource == _STORAGE:
                nano = parse(finding.limit).nano
            elif finding.rule == "quota/exceeded" and finding.resource.endswith("requests.storage") and count == 1:
                room = _find_room(finding, policies)
                nano = min(nano, room // _MI * _MI if room >= _MI else 0)
            else:
                return None
    return Quantity(nano, "BinarySI" if nano % _MI == 0 else size.format)


def _find_room(finding: Finding, policies: Policies) -> int:
    used, hard = quota_admission.amounts(policies.quotas)
    quota = finding.source.name if finding.source is not None else ""
    return hard[quota, finding.resource] - used.get((quota, finding.resource), 0)


def _ended_runs(store: Store, namespace: str) -> dict[ObjectRef, list[PersistentVolumeClaim]]:
    """Return the ended runs, by when they were made, with the claims that they own."""
    result: dict[ObjectRef, list[PersistentVolumeClaim]] = {}
    claims = [claim for claim in store.all("PersistentVolumeClaim", namespace) if claim.metadata.owner_references]
    for claim in sorted(claims, key=lambda claim: (claim.metadata.creation_timestamp or "", claim.metadata.name)):
        for owner in claim.metadata.owner_references or ():
            run = store.get(owner.kind, owner.name, namespace) if owner.kind in {"PipelineRun", "TaskRun"} else None
            if isinstance(run, (PipelineRun, TaskRun)) and has_ended(run):
                result.setdefault(ObjectRef(owner.kind, owner.name, namespace), []).append(claim)
    return result
