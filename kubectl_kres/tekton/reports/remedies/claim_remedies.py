"""The remedies of claims of workspaces: less storage, other bounds, more of a quota, ended runs deleted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Finding, Server
from kubectl_kres.admission.quota.quota_admission import Key, amounts, charges, claim_request
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.volume_claims import with_default_class
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.parts import Edit, EditClaim, Remedy, SetBound
from kubectl_kres.reports.remedies.candidates import Candidate, remedies_of
from kubectl_kres.reports.remedies.room import RaisedHard
from kubectl_kres.reports.remedies.words import join_words, raises
from kubectl_kres.simulate.rollout import SettledRollout
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import PipelineRun, TaskRun
from kubectl_kres.tekton.reports.remedies.changed_policies import changed_policies
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
    new = [claim for claim in claims if not claim.there]
    answers = find_refused_claims(new, policies, server)
    if not answers:
        return ()
    findings = [finding for answer in answers for refusal in answer.refusals for finding in refusal.findings]
    namespace, tries = subject.ref.namespace, []
    tries.append([*_smaller(subject, new, answers, policies)])
    bounds = [*_bounds(findings, namespace)]
    tries.append([*bounds, *_raise_quota_edits(new, changed_policies(policies, bounds), server)])
    passing = (
        Candidate(tuple(edits))
        for edits in tries
        if edits and not find_refused_claims(_edit_claims(new, edits), changed_policies(policies, edits), server)
    )
    ways = [*remedies_of(store, subject, passing)]
    if not bounds and any(finding.rule == "quota/exceeded" for finding in findings):
        ways += _deletions(store, namespace, findings)
    return tuple(ways)


def _edit_claims(claims: Sequence[WorkspaceClaim], edits: Sequence[Edit]) -> list[WorkspaceClaim]:
    """Return the claims with other amounts."""
    sizes = {edit.field: edit.to for edit in edits if isinstance(edit, EditClaim)}
    return [
        structs.replace(claim, claim=_resize_claim(claim.claim, sizes[_field(claim)]))
        if _field(claim) in sizes
        else claim
        for claim in claims
    ]


def _resize_claim(claim: PersistentVolumeClaim, amount: str) -> PersistentVolumeClaim:
    resources = claim.spec.resources or ResourceRequirements()
    own = structs.replace(resources, requests={**(resources.requests or {}), _STORAGE: amount})
    return structs.replace(claim, spec=structs.replace(claim.spec, resources=own))


def _field(claim: WorkspaceClaim) -> str:
    return f"{claim.path}.spec.resources.requests[{_STORAGE}]"


def _storage(claim: PersistentVolumeClaim) -> Quantity | None:
    requests = claim.spec.resources.requests if claim.spec.resources is not None else None
    text = (requests or {}).get(_STORAGE)
    return None if text is None else parse(str(text))


def _smaller(
    subject: Subject, claims: Sequence[WorkspaceClaim], answers: Sequence[ClaimAnswer], policies: Policies
) -> Iterator[Edit]:
    """Yield another size of each claim that is refused for its size: what a bound asks for, or the room that
    there is.
    """
    seen = set()
    for answer in answers:
        size = _storage(answer.claim.claim)
        fit = size and _find_fitting_size(answer, size, policies, len(claims))
        if size is None or fit is None or not fit.nano or answer.claim.path in seen:
            continue
        seen.add(answer.claim.path)
        yield EditClaim(subject.ref, _field(answer.claim), _STORAGE, str(fit), str(size))


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


def _bounds(findings: Sequence[Finding], namespace: str) -> Iterator[SetBound]:
    """Yield each bound that is broken, moved to what a claim asks for; of several the farthest."""
    edits: dict[str, SetBound] = {}
    for finding in findings:
        edit = bound_edit(finding, namespace)
        if edit is None:
            continue
        other = edits.get(edit.field)
        if other is None or (parse(edit.to) > parse(other.to)) == (edit.bound == "max"):
            edits[edit.field] = edit
    yield from edits.values()


def bound_edit(finding: Finding, namespace: str) -> SetBound | None:
    """Return the edit that moves the bound which a finding names to what was asked; None: it names none."""
    bound = finding.rule.removeprefix("limitrange/")
    if bound not in {"min", "max"} or finding.source is None or not finding.asked:
        return None
    ref = ObjectRef("LimitRange", finding.source.name, namespace)
    of = "PersistentVolumeClaim" if finding.path.startswith("spec") and finding.resource == _STORAGE else "Container"
    return SetBound(ref, finding.source.field, finding.resource, finding.asked, finding.limit, bound, of)


def _raise_quota_edits(claims: Sequence[WorkspaceClaim], policies: Policies, server: Server) -> Iterator[Edit]:
    """Yield the raise of each quota that all claims of the run need."""
    used, hard = amounts(policies.quotas)
    need: dict[Key, int] = {}
    for claim in claims:
        try:
            costs = charges(claim_request(with_default_class(claim.claim, policies), server), policies.quotas)
        except Unparsable:
            return
        for charge in costs:
            for name, text in charge.requested.items():
                key = charge.quota, name
                need[key] = need.get(key, used.get(key, 0)) + parse(text).nano
    more = {key: amount for key, amount in need.items() if amount > hard[key]}
    yield from raises(policies, RaisedHard(more, {}, complete=True, rest=SettledRollout(0, 0, 0)))


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
