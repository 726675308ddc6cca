"""What the policies of a chain say of an object that a controller makes: first they change it, then they judge it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.admission.decoding.unknown_fields import table
from kubectl_kres.admission.request.new_pod import ObjectReview
from kubectl_kres.model.pod import unread_fields
from kubectl_kres.policies.rules import chain
from kubectl_kres.policies.rules.chain import Chain, PolicyAnswer
from kubectl_kres.policies.rules.request import Request, matched

Raw = Mapping[str, Any]
#: Kinds that hold a pod template, of which not all is read.
_OF_TEMPLATES = frozenset({"ReplicaSet", "ControllerRevision", "Job"})
#: What is known of a pod that a system makes.
_BUILT = frozenset({
    *("name", "containers", "initContainers", "resources", "limits", "requests", "claims", "restartPolicy"),
    *("activeDeadlineSeconds", "priorityClassName", "runtimeClassName", "affinity"),
})  # fmt: skip


def unread_of(kind: str, *, whole: bool) -> frozenset[str]:
    """Fields that policies may ask for and that were not read. ``whole``: the maker is as a file holds it."""
    if whole:
        return frozenset()
    if kind == "Pod":
        fields = (table().types[name] for name in ("PodSpec", "Container"))
        return frozenset({"labels", "annotations", *(field for names in fields for field in names)} - _BUILT)
    return unread_fields(whole=False, additions=False) if kind in _OF_TEMPLATES else frozenset()


def reviewed(run: Chain, request: Request, raw: Raw, gaps: tuple[str, ...] = ()) -> ObjectReview:
    """Return what the policies of a chain say of the object of a request."""
    refusals: dict[str, Refusal] = {}
    changed, unknown = raw, list(gaps)
    for answer in _mutated(run, request):
        if isinstance(answer, PolicyAnswer):
            if answer.outcome.refusal is not None:
                refusals[answer.outcome.message] = answer.outcome.refusal
            continue
        whole, steps, more = answer
        unknown += more
        changed = whole if steps else changed
        for review in run.review(request.of(whole)):
            unknown += review.unknown
            refusals.update((refusal.message, refusal) for refusal in review.refusals)
    return ObjectReview(changed, tuple(refusals.values()), tuple(dict.fromkeys(unknown)))


def _mutated(run: Chain, request: Request) -> Iterator[Any]:
    """Yield the object after each order of the policies that change it; as it is where none is about it."""
    world = run.world
    about = [
        bound
        for bound in world.mutating
        if matched(bound.policy.spec.get("matchConstraints"), request, world.namespace) is not None
    ]
    if not about:
        yield dict(request.object or {}), (), ()
        return
    for session in chain.sessions(run):
        yield chain.once(run, request, session)
