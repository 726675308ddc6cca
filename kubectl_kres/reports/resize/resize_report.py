"""What a resize of a running pod would do: allowed or not, what changes, what restarts, what quotas it costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.draft import SIDES, Draft, Quantities, parse_list
from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import of_pod
from kubectl_kres.admission.pod.defaulting import decoded_draft
from kubectl_kres.admission.pod.qos import class_of
from kubectl_kres.admission.resize.resize_change import Change, changes
from kubectl_kres.admission.resize.resize_pod import resize as put_resize
from kubectl_kres.admission.resize.resize_rules import RESIZABLE, same_containers
from kubectl_kres.errors import NotFound, UsageError
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Node, Pod
from kubectl_kres.model.raw import decoded
from kubectl_kres.provenance.journal import Assume, Journal
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import Unseen, Verdict, unread
from kubectl_kres.reports.common.nodes import node_of
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.reports.pod.feature_gates import gates
from kubectl_kres.reports.pod.needs import needs_with_node
from kubectl_kres.reports.pod.verdict import verdict_of, worded
from kubectl_kres.reports.remedies.pod_remedy import remedies
from kubectl_kres.reports.remedies.remedy_resize import REMEDIES
from kubectl_kres.reports.remedies.words import told
from kubectl_kres.reports.resize.resize_patch import patched, refused_patch
from kubectl_kres.store.store import Store


class Sum(Record, frozen=True):
    """The pod's effective figure before and after; ``allocatable`` of its node, where that is known."""

    side: str
    resource: str
    before: str = ""
    after: str = ""
    allocatable: str = ""


class Resize(Record, frozen=True):
    """The answer to a resize of one pod.

    ``changes``: what differs, with a container's name, none for the pod level. ``restarts``: containers that restart.
    ``charges``: by how much quotas grow, if it is allowed. ``ignored``: paths of the patch that a resize leaves out.
    """

    subject: ObjectRef
    verdict: Verdict
    remedies: tuple[Remedy, ...]
    changes: tuple[Change, ...] = ()
    restarts: tuple[str, ...] = ()
    sums: tuple[Sum, ...] = ()
    charges: tuple[QuotaCharge, ...] = ()
    qos: str = ""
    qos_after: str = ""
    node: str = ""
    ignored: tuple[str, ...] = ()
    assumptions: tuple[Assume, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    complete: bool = True
    journal: Journal = ()


def resize(store: Store, subject: Subject, patch: Any, ask: Ask) -> Resize:
    """Raises UsageError for a bad patch or what is no pod, NotFound if the pod is not in the store."""
    old = _stored(store, subject)
    new, ignored = patched(old, patch)
    known, node = policies(store, subject.ref.namespace, ask.server), node_of(store, old)
    outcomes = put_resize(old, new, known.policies, ask.server, node=node)
    outcomes = tuple(_blamed(patch, outcome) for outcome in outcomes)
    first = outcomes[0]
    same = same_containers(old, new)
    changed = tuple(_changes(old, first, ask.server)) if same else ()
    named = {path: item.name for path, item in _places(old)}
    assumed = (Assume("server", "server/assumed", text) for text in ask.assumptions)
    missed = tuple(
        unseen
        for unseen in unread(store, needs_with_node(store, subject))
        if unseen.required or (unseen.kind == "Node" and unseen.state != "unread")
    )
    before = decoded_draft(old, ask.server)
    return Resize(
        subject.ref,
        worded(verdict_of(outcomes), missed),
        told(
            remedies(outcomes, named, REMEDIES) if same else (f"name the containers that the pod has: {_names(old)}",)
        ),
        changed,
        tuple(dict.fromkeys(change.container for change in changed if change.restart)),
        tuple(_sums(before, first.draft, node)) if same and first.draft is not None else (),
        first.charges,
        old.status.qos_class or class_of(before),
        class_of(first.draft) if same and first.draft is not None else "",
        old.spec.node_name,
        ignored,
        (*known.assumptions, *_noted(first), *gates(new, ask.server, resized=True), *assumed),
        missed,
        not any(unseen.required for unseen in missed),
        first.journal,
    )


def _stored(store: Store, subject: Subject) -> Pod:
    if subject.ref.kind != "Pod":
        raise UsageError(
            f"--resize takes pods, not {subject.kind.qualified}", hint="new pods are made by changing the template"
        )
    if subject.raw is not None:
        return decoded(subject.raw, Pod)
    pod = store.get("Pod", subject.ref.name, subject.ref.namespace)
    if not isinstance(pod, Pod):
        raise NotFound(f'pods "{subject.ref.name}" not found', code=404, reason="NotFound")
    return pod


def _blamed(patch: Any, outcome: Outcome) -> Outcome:
    """A patch cannot be decoded by itself: what is no quantity in it is a fault of the patch."""
    refusal = outcome.refusal
    if refusal is None or refusal.code != 400:
        return outcome
    blamed = refused_patch(patch, refusal)
    return structs.replace(outcome, code=blamed.code, refusal=blamed)


def _names(pod: Pod) -> str:
    return ", ".join(item.name for _, item in _places(pod))


def _places(pod: Pod) -> Iterator[tuple[str, Any]]:
    for key, group in (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers)):
        yield from ((f"spec.{key}[{index}]", container) for index, container in enumerate(group or ()))


def _changes(old: Pod, outcome: Outcome, server: Server) -> Iterator[Change]:
    """Of the pod level first, then of the containers."""
    if outcome.draft is None:
        return
    before, after = decoded_draft(old, server).pod, outcome.draft.pod
    level = after or before
    for side in reversed(SIDES):
        for resource in RESIZABLE:
            texts = [_text(slot.side(side) if slot is not None else {}, resource) for slot in (before, after)]
            if level is not None and texts[0] != texts[1]:
                yield Change(level.at(side, resource), "", resource, side, texts[0], texts[1])
    yield from changes(old, outcome, server)


def _text(values: Quantities, resource: str) -> str | None:
    return str(values[resource]) if resource in values else None


def _sums(before: Draft, after: Draft, node: Node | None) -> Iterator[Sum]:
    """The figures that a node and quotas see, of which at least one is more than nothing."""
    room = parse_list(node.status.allocatable, "status.allocatable") if node is not None else {}
    for resource in RESIZABLE:
        for side in reversed(SIDES):
            was, is_ = (_text(of_pod(draft, side), resource) for draft in (before, after))
            if was is not None or is_ is not None:
                bound = _text(room, resource) if side == "requests" else None
                none = "0" if side == "requests" else ""
                yield Sum(side, resource, was or none, is_ or none, bound or "")


def _noted(outcome: Outcome) -> Iterator[Assume]:
    yield from (entry for entry in outcome.journal if isinstance(entry, Assume))
