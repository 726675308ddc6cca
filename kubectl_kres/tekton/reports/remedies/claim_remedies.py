"""The remedies of claims of workspaces: less storage, other bounds, more of a quota, ended runs deleted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding, Server
from kubectl_kres.admission.quota.quota_admission import (
    Key,
    amounts,
    charges,
    claim_request,
    lacking_room,
    price_of,
    with_price,
)
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.volume_claims import with_default_class
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.parts import EditClaim, Remedy
from kubectl_kres.reports.remedies.changed_objects import (
    changed_policies,
    moved_bound,
    with_moved_bound,
    with_storage,
)
from kubectl_kres.reports.remedies.engine import RemedySearch, State
from kubectl_kres.reports.remedies.words import join_words, raises
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.rules.controller.workspace_claims import ClaimAnswer, WorkspaceClaim, find_refused_claims
from kubectl_kres.tekton.rules.pipeline.pipeline_run import has_ended

_MI = 2**20 * 10**9
_STORAGE = "storage"
#: So many runs are named.
_MOST_RUNS = 5


def claim_remedies(
    store: Store, subject: Subject, claims: Sequence[WorkspaceClaim], policies: Policies, server: Server
) -> tuple[Remedy, ...]:
    """Return the remedies with which all claims of a run are made, each tried; those in the run itself come first.

    ``claims``: all that the run makes.
    """
    search = _ClaimSearch(store, subject, claims, policies, server)
    refused = search.trial({})
    if not refused:
        return ()
    findings = [finding for answer in refused for refusal in answer.refusals for finding in refusal.findings]
    ways = tuple(search.remedies())
    if any(moved_bound(policies, finding, subject.ref.namespace) for finding in findings):
        return ways
    full = any(finding.rule == "quota/exceeded" for finding in findings)
    return (*ways, *(_deletions(store, subject.ref.namespace, findings) if full else ()))


class _ClaimSearch(RemedySearch[Sequence[ClaimAnswer]]):
    """Trials of the new claims of a run: which are refused."""

    def __init__(
        self, store: Store, subject: Subject, claims: Sequence[WorkspaceClaim], policies: Policies, server: Server
    ) -> None:
        super().__init__(store, subject)
        self.claims = [claim for claim in claims if not claim.exists]
        self.policies, self.server = policies, server

    def evaluate(self, state: State) -> Sequence[ClaimAnswer]:
        """Return the claims that are refused."""
        claims = [
            structs.replace(it, claim=with_storage(it.claim, state[it.path].to)) if it.path in state else it
            for it in self.claims
        ]
        return find_refused_claims(claims, changed_policies(self.policies, state.values()), self.server)

    def passes(self, trial: Sequence[ClaimAnswer]) -> bool:
        """Return whether all are made."""
        return not trial

    def states(self) -> Iterator[State]:
        """Yield other sizes, then other bounds with more of the quotas."""
        yield self._other_sizes()
        state = self.walk({}, self._widen, self.passes)
        policies, price = changed_policies(self.policies, state.values()), dict[Key, int]()
        for claim in self.claims:
            try:
                request = claim_request(with_default_class(claim.claim, policies), self.server)
                price = with_price(price, price_of(charges(request, policies.quotas)))
            except Unparsable:
                return
        raised = raises(policies, lacking_room(policies.quotas, price))
        yield {**state, **{(edit.object, edit.field): edit for edit in raised}}

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
    used, hard = amounts(policies.quotas)
    quota = finding.source.name if finding.source is not None else ""
    return hard[quota, finding.resource] - used.get((quota, finding.resource), 0)


def _deletions(store: Store, namespace: str, findings: Sequence[Finding]) -> Iterator[Remedy]:
    """Yield the deletion of ended runs whose claims still count, the oldest first; their data goes with them."""
    runs = _ended_runs(store, namespace)
    because = "a claim lives as long as the run that it was made for, and its data goes with it"
    if not runs:
        yield Remedy(f"delete runs that have ended, or their claims: {because}")
        return
    chosen = _select_runs_to_delete(runs, findings)
    names = [str(ref) for ref in chosen]
    commands = tuple(
        f"kubectl delete {ref.kind.lower()} {shlex.quote(ref.name)} -n {shlex.quote(namespace)}"
        f"{f' {store.origin.flags}' if store.origin.flags else ''}"
        for ref in chosen
    )
    have = "have" if len(names) > 1 else "has"
    yield Remedy(
        f"delete {join_words(names)}, which {have} ended and still {'have' if len(names) > 1 else 'has'} claims: "
        f"{because}",
        commands=commands,
    )


def _select_runs_to_delete(
    runs: Mapping[ObjectRef, Sequence[PersistentVolumeClaim]], findings: Sequence[Finding]
) -> Sequence[ObjectRef]:
    """Return the first runs whose claims free what is lacking, as far as a claim counts for it."""
    short = {
        finding.resource: parse(finding.used).nano + parse(finding.asked).nano - parse(finding.limit).nano
        for finding in findings
        if finding.rule == "quota/exceeded"
    }
    chosen: list[ObjectRef] = []
    for ref, claims in runs.items():
        if all(amount <= 0 for amount in short.values()) or len(chosen) == _MOST_RUNS:
            break
        chosen.append(ref)
        for name in short:
            sizes = [size.nano for claim in claims if (size := _storage(claim)) is not None]
            short[name] -= sum(sizes) if name.endswith("requests.storage") else len(claims) * 10**9
    return chosen


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
