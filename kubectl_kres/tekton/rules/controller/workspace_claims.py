"""Claims that runs make for their workspaces, and the condition of a run whose claim is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge, Refusal, unparsable
from kubectl_kres.admission.base.resource_names import given_name
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import charges, claim_request, with_used
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.request.volume_claims import admit_claim, review_made_claim, with_default_class, with_review
from kubectl_kres.admission.structure.volume_structure import claim_errors
from kubectl_kres.model.objects import Metadata, decode_object
from kubectl_kres.model.quota_objects import PersistentVolumeClaim
from kubectl_kres.tekton.model import PipelineRun, TaskRun, WorkspaceBinding
from kubectl_kres.tekton.rules.base.config import TektonVersion, has_change
from kubectl_kres.tekton.rules.base.problem import Problem

#: Up to so many claims every order is tried; of more each one is tried as the last.
_MOST_ORDERED = 4
_LONGEST_VOLUME = 63
#: Stands in a snapshot for what was left out.
HIDDEN = "hidden"
REASON = "CouldntCreateWorkspacePVC"
SET_REASON = "ReasonCouldntCreateOrUpdateAffinityAssistantStatefulSet"
RULE = "tekton/workspace-claim"


class WorkspaceClaim(Struct, frozen=True):
    """The claim of one workspace. ``path``: of its template in the run. ``exists``: it exists already.

    ``spec``: as it is written.
    """

    workspace: str
    claim: PersistentVolumeClaim
    path: str
    exists: bool = False
    spec: Mapping[str, Any] = {}

    @property
    def name(self) -> str:
        """The name that it is given; the end of it is not known before the run has a UID."""
        return given_name(self.claim.metadata.name, self.claim.metadata.generate_name)


class ClaimAnswer(Struct, frozen=True):
    """What the server says of one claim, after those before it. ``charges``: what it costs quotas."""

    claim: WorkspaceClaim
    outcomes: tuple[Outcome, ...]
    charges: tuple[QuotaCharge, ...]

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        return tuple(outcome.refusal for outcome in self.outcomes if outcome.refusal is not None)


def claims_of(run: TaskRun | PipelineRun, existing: Collection[str] = ()) -> tuple[WorkspaceClaim, ...]:
    """Return the claims of a run, in the order of its workspaces. ``existing``: names of claims that are there.

    Source: reconciler/volumeclaim/pvchandler.go GeneratePVCNameFromWorkspaceBinding.
    """
    return tuple(
        _claim(run, binding, index, existing)
        for index, binding in enumerate(run.spec.workspaces or ())
        if binding.persistent_volume_claim is None and _template(binding) is not None
    )


def unknown_claims(run: TaskRun | PipelineRun) -> tuple[str, ...]:
    """Return the workspaces whose claim is not known, as older snapshots left it out."""
    return tuple(
        binding.name
        for binding in run.spec.workspaces or ()
        if binding.volume_claim_template is not None and _template(binding) is None
    )


def _template(binding: WorkspaceBinding) -> PersistentVolumeClaim | None:
    """Return the template of a claim; None where there is none, or none that can be read."""
    raw = binding.volume_claim_template
    if not isinstance(raw, Mapping) or HIDDEN in raw:
        return None
    try:
        return decode_object(dict(raw), PersistentVolumeClaim)
    except msgspec.ValidationError:
        return None


def assistants_claims(run: PipelineRun, assistant: str, existing: Collection[str] = ()) -> tuple[WorkspaceClaim, ...]:
    """Return the claims that the StatefulSet of an assistant makes, where there is one assistant for the whole run.

    Source: reconciler/pipelinerun/affinity_assistant.go getPersistentVolumeClaimNameWithAffinityAssistant.
    """
    return tuple(_claim_of_assistant(claim, assistant, existing) for claim in claims_of(run))


def _claim(
    run: TaskRun | PipelineRun, binding: WorkspaceBinding, index: int, existing: Collection[str]
) -> WorkspaceClaim:
    template = _template(binding) or PersistentVolumeClaim()
    beginning, uid = template.metadata.name or "pvc", run.metadata.uid
    digest = hashlib.sha256(f"{binding.name}{uid}".encode("utf-8", "surrogatepass")).hexdigest()[:10]
    name = f"{beginning}-{digest}" if uid else ""
    metadata = msgspec.structs.replace(
        template.metadata, name=name, generate_name="" if uid else f"{beginning}-", namespace=run.metadata.namespace
    )
    claim = msgspec.structs.replace(template, metadata=metadata)
    path = f"spec.workspaces[{index}].volumeClaimTemplate"
    spec = binding.volume_claim_template.get("spec")
    return WorkspaceClaim(binding.name, claim, path, bool(name) and name in existing, spec or {})


def _claim_of_assistant(claim: WorkspaceClaim, assistant: str, existing: Collection[str]) -> WorkspaceClaim:
    template_name = claim.name
    if len(template_name) > _LONGEST_VOLUME:
        digest = hashlib.sha256(template_name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
        template_name = f"{template_name[: _LONGEST_VOLUME - 11]}-{digest}"
    name = f"{template_name}-{assistant}-0"
    metadata = Metadata(
        name=name, namespace=claim.claim.metadata.namespace, annotations=claim.claim.metadata.annotations
    )
    created_claim = msgspec.structs.replace(claim.claim, metadata=metadata)
    return msgspec.structs.replace(claim, claim=created_claim, exists=name in existing)


def admit_claims(claims: Sequence[WorkspaceClaim], policies: Policies, server: Server) -> tuple[ClaimAnswer, ...]:
    """Return the answers to the claims that are not there, made in this order; nothing is made after a refusal."""
    return tuple(_admit_claims(claims, policies, server))


def _admit_claims(claims: Sequence[WorkspaceClaim], policies: Policies, server: Server) -> Iterator[ClaimAnswer]:
    quotas = policies.quotas
    for claim in claims:
        if claim.exists:
            continue
        try:
            own_policies = msgspec.structs.replace(policies, quotas=quotas)
            created_claim, review = review_made_claim(claim.claim, own_policies, server)
            outcomes = with_review(
                admit_claim(created_claim, own_policies, server, faults=(*claim_errors(claim.spec, server),)), review
            )
            costs = tuple(charges(claim_request(with_default_class(created_claim, policies), server), quotas))
        except Unparsable as error:
            refusal = unparsable("PersistentVolumeClaim", "v1", error.error.message, error.path, error.error.text)
            yield ClaimAnswer(claim, (Outcome(False, refusal.code, refusal),), ())
            return
        yield ClaimAnswer(claim, outcomes, costs)
        if any(not outcome.allowed for outcome in outcomes):
            return
        quotas = with_used(quotas, costs)


def find_refused_claims(
    claims: Sequence[WorkspaceClaim], policies: Policies, server: Server
) -> tuple[ClaimAnswer, ...]:
    """Return each answer that refuses a claim, in any order, since the controller takes them from a map."""
    new = [claim for claim in claims if not claim.exists]
    orders: Iterable[Sequence[WorkspaceClaim]] = permutations(new)
    if len(new) > _MOST_ORDERED:
        orders = ([*(other for other in new if other is not last), last] for last in new)
    refused_claims: dict[str, ClaimAnswer] = {}
    for order in orders:
        for answer in admit_claims(order, policies, server):
            for refusal in answer.refusals:
                refused_claims.setdefault(refusal.message, answer)
    return tuple(refused_claims.values())


def pipeline_problem(run: PipelineRun, answer: ClaimAnswer, refusal: Refusal, version: TektonVersion | None) -> Problem:
    """Return the condition of a PipelineRun one of whose claims is refused.

    Source: reconciler/pipelinerun/pipelinerun.go reconcile, volumeclaim/pvchandler.go isRetryableError.
    """
    if is_retried(refusal) and has_change("claims-retried", version):
        text = f"Waiting for PVC creation to succeed: {_error(answer, refusal, version)}"
        return Problem("create", "PipelineRun", text, RULE, "PipelineRunPending", "Unknown", again="back-off")
    whose = f"{run.metadata.namespace}/{run.metadata.name}"
    before = "" if has_change("claims-retried", version) else "PVC creation error: "
    text = f"Failed to create PVC for PipelineRun {whose} correctly: {before}{_error(answer, refusal, version)}"
    return Problem("create", "PipelineRun", text, RULE, REASON, "False")


def set_problem(run: PipelineRun, assistant: str, refusal: Refusal) -> Problem:
    """Return the condition of a PipelineRun whose assistant's StatefulSet is not valid for a claim's template."""
    fault = refusal.message.partition(" is invalid: ")[2].replace("spec.", "spec.volumeClaimTemplates[0].spec.", 1)
    error = f'failed to create StatefulSet {assistant}: StatefulSet.apps "{assistant}" is invalid: {fault}'
    return Problem("create", "PipelineRun", set_failure(run, error), RULE, SET_REASON, "False")


def set_failure(run: PipelineRun, errors: str) -> str:
    """Return the message of such a condition. Source: reconciler/pipelinerun/pipelinerun.go reconcile."""
    whose = f"{run.metadata.namespace}/{run.metadata.name}"
    whose = f"{run.metadata.namespace}/{run.metadata.name}"
    what = f"Failed to create StatefulSet for PipelineRun {whose} correctly"
    return f"{what}: Affinity Assistant creation error: [{errors}]"


def task_problem(run: TaskRun, answer: ClaimAnswer, refusal: Refusal, version: TektonVersion | None) -> Problem:
    """Return the condition of a TaskRun one of whose claims is refused, which is final but for its retries.

    Source: reconciler/taskrun/taskrun.go reconcile.
    """
    whose = f"{run.metadata.namespace}/{run.metadata.name}"
    text = f"failed to create PVC for TaskRun {whose} workspaces correctly: {_error(answer, refusal, version)}"
    return Problem("create", "TaskRun", text, RULE, REASON, "False")


def is_retried(refusal: Refusal) -> bool:
    """Return whether the refusal may pass. Source: volumeclaim/pvchandler.go isRetryableError."""
    return (refusal.code == 403 and "exceeded quota" in refusal.message) or refusal.code == 409


def _error(answer: ClaimAnswer, refusal: Refusal, version: TektonVersion | None) -> str:
    name = answer.claim.name
    if not has_change("claims-retried", version):
        return f"failed to create PVC {name}: {refusal.message}"
    kind = "PVC creation error, retryable" if is_retried(refusal) else "PVC creation error"
    return f"{kind} for {name}: {refusal.message}"
