"""The objects that a change leaves behind, so that every report can be asked about the state that it leads to.

What ``simulate`` says is different is altered, and nothing else. If races can lead to several ends, the one with the
fewest pods is taken.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef, Raw, decode_object
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload, template_in
from kubectl_kres.reports.changes.report import ChangeReport
from kubectl_kres.reports.changes.system import altered_by_systems
from kubectl_kres.simulate.change import PlacedStep, key_of_step
from kubectl_kres.simulate.cluster import ChangeOutcome
from kubectl_kres.simulate.final_states import FinalQuota, FinalState, FinalWorkload
from kubectl_kres.simulate.live import parts_of, raw_of
from kubectl_kres.simulate.shapes import shape_fields
from kubectl_kres.simulate.state import World
from kubectl_kres.simulate.system import cluster_kinds
from kubectl_kres.store.store import Store

_ENDED = frozenset({"Succeeded", "Failed"})
_REVISION = "deployment.kubernetes.io/revision"
#: Of new pods that are alike only so many stand in the store; the workload's status counts all of them.
_MOST_ALIKE = 500
#: Behind the names of pods and ReplicaSets that do not exist yet; no controller gives such a name.
_NEW = "what-if"


class AlteredObjects(Struct, frozen=True):
    """The objects that a change writes and removes.

    ``put``: kind and object of what is new or replaces an object that was read; ``removed``: what is removed.
    """

    put: tuple[tuple[str, Any], ...] = ()
    removed: tuple[ObjectRef, ...] = ()

    @property
    def refs(self) -> frozenset[ObjectRef]:
        """References of all objects that differ."""
        return frozenset({*(_ref(kind, item) for kind, item in self.put), *self.removed})

    def apply_to(self, store: Store) -> None:
        """Alter the store."""
        for ref in self.removed:
            store.remove(ref.kind, ref.name, ref.namespace)
        for kind, item in self.put:
            store.add(kind, item)


class _ChangedNamespace(NamedTuple):
    """A namespace after the change: its objects, and the outcome that is shown."""

    name: str
    world: World
    end: FinalState
    store: Store


def altered_objects(
    store: Store, steps: tuple[PlacedStep, ...], outcome: ChangeOutcome, change_report: ChangeReport
) -> AlteredObjects:
    """``change_report``: the report of the outcome. A step that the server refuses alters nothing."""
    put: list[tuple[str, Any]] = []
    gone: list[ObjectRef] = []
    aimed = {
        ObjectRef(*key_of_step(placed_step.step), placed_step.namespace)
        for placed_step, sent_step in zip(steps, outcome.sent, strict=True)
        if not sent_step.is_refused
    }
    aimed = {ref for ref in aimed if ref.kind not in cluster_kinds()}
    concerned = (
        aimed
        | {workload.subject for workload in change_report.workloads}
        | {quota.quota for quota in change_report.quotas}
    )
    for name in outcome.after.spaces:
        namespace, _ = outcome.after.spaces[name]
        states = outcome.after.states(name)
        final_states = [namespace.describe_final_state(state) for state in states]
        if not final_states:
            continue
        index = min(
            range(len(final_states)),
            key=lambda number: sum(workload.pods for workload in final_states[number].workloads),
        )
        space = _ChangedNamespace(name, namespace.tables.worlds[states[index].world], final_states[index], store)
        for ref in sorted(concerned, key=str):
            if ref.namespace == name:
                more, less = _build_changed_object(space, ref)
                put += more
                gone += less
    for altered in altered_by_systems(outcome.before.worlds, outcome.after.worlds):
        put += altered.put
        gone += altered.removed
    return AlteredObjects(tuple(put), tuple(gone))


def _build_changed_object(space: _ChangedNamespace, ref: ObjectRef) -> tuple[list[tuple[str, Any]], list[ObjectRef]]:
    """Return one object as it is after the change, and the pods that a workload then has."""
    raw = space.world.objects.get((ref.kind, ref.name))
    if raw is None:
        exists = space.store.get(ref.kind, ref.name, ref.namespace) is not None
        return [], [ref] if exists else []
    if ref.kind == "ResourceQuota":
        end = next((quota for quota in space.end.quotas if quota.name == ref.name), None)
        return [(ref.kind, _set_quota_status(_decode_object(raw, ref), end))], []
    workload = next((workload for workload in space.end.workloads if workload.key == (ref.kind, ref.name)), None)
    if workload is None or ref.kind == "Pod":
        return [(ref.kind, _decode_object(raw, ref))], []
    return _build_workload_objects(space, ref, raw, workload)


def _set_quota_status(item: Any, end: FinalQuota | None) -> Any:
    """Return the quota once its controller has counted."""
    if end is None:
        return item
    return replace(item, status=replace(item.status, hard=dict(end.hard), used=dict(end.used)))


def _build_workload_objects(
    space: _ChangedNamespace, ref: ObjectRef, raw: Raw, final_workload: FinalWorkload
) -> tuple[list[tuple[str, Any]], list[ObjectRef]]:
    """Return a workload at its end with its ReplicaSets and pods: those that stay, and those that are made."""
    store = space.store
    sets = [item for item in store.all("ReplicaSet", space.name) if _has_owner(item, ref)]
    before = store.get(ref.kind, ref.name, ref.namespace)
    newest = max(sets, key=_rank, default=None)
    if ref.kind == "Deployment" and (newest is None or _template(before) != _template_of(raw)):
        newest = _new_set(ref, raw, newest)
    owners = {item.metadata.name for item in sets}
    stored: list[list[Any]] = [[count, shape] for count, shape in final_workload.stored]
    gone: list[ObjectRef] = []
    kept: dict[str, int] = {}
    names: set[str] = set()
    for pod in store.all("Pod", space.name):
        owner = _owner(pod)
        mine = owner is not None and (owner.name in owners if ref.kind == "Deployment" else _has_owner(pod, ref))
        if owner is None or not mine or pod.status.phase in _ENDED:
            continue
        shape = shape_fields(parts_of(pod))
        entry = next((item for item in stored if item[0] and item[1] == shape), None)
        if entry is None:
            gone.append(ObjectRef("Pod", pod.metadata.name, space.name))
        else:
            entry[0] -= 1
            kept[owner.name] = kept.get(owner.name, 0) + 1
            names.add(pod.metadata.name)
    maker = ObjectRef("ReplicaSet", newest.metadata.name, space.name) if ref.kind == "Deployment" and newest else ref
    new_pods = sum(count for count, _ in stored)
    put = [("Pod", pod) for pod in _new_pods(maker, raw, _free_names(final_workload, names), stored)]
    for item in {set_.metadata.name: set_ for set_ in (*sets, *([newest] if newest else []))}.values():
        name = item.metadata.name
        put_count = new_pods if name == maker.name else 0
        wanted_count = (
            final_workload.newest.wanted
            if final_workload.newest is not None and name == maker.name
            else kept.get(name, 0)
        )
        status = replace(item.status, replicas=kept.get(name, 0) + put_count)
        put.append(("ReplicaSet", replace(item, spec=replace(item.spec, replicas=wanted_count), status=status)))
    return [*put, (ref.kind, _with_status(_decode_object(raw, ref), final_workload))], gone


def _free_names(final_workload: FinalWorkload, taken: Container[str]) -> Iterator[str]:
    """Yield the names of a StatefulSet's pods that none of those that stay has."""
    for row in final_workload.ordinals:
        for ordinal in row:
            name = f"{final_workload.name}-{ordinal}"
            if name not in taken:
                yield name


def _new_pods(maker: ObjectRef, raw: Raw, names: Iterator[str], stored: list[list[Any]]) -> Iterator[Pod]:
    """Yield pods that do not exist yet: as the template has them, with the resources that they would be stored with.

    ``names``: those of a StatefulSet's pods. ``stored``: how many of which shape.
    """
    found_template = template_in(raw)
    template: Mapping[str, Any] = found_template[1] if found_template is not None else {}
    number = 0
    for count, shape in stored:
        for _ in range(min(count, _MOST_ALIKE)):
            number += 1
            name = next(names, f"{maker.name}-{_NEW}-{number}")
            metadata = {
                "name": name,
                "namespace": maker.namespace,
                "labels": (template.get("metadata") or {}).get("labels") or {},
                "ownerReferences": [
                    {"apiVersion": BY_KIND[maker.kind].api_version, "kind": maker.kind, "name": maker.name,
                     "uid": maker.name, "controller": True}
                ],
            }  # fmt: skip
            status = {"phase": "Running", "qosClass": shape.get("qosClass", "")}
            spec = {**template.get("spec", {}), **{key: value for key, value in shape.items() if key != "qosClass"}}
            for group in ("containers", "initContainers"):
                resources_by_name = {item.get("name", ""): item.get("resources") or {} for item in shape.get(group, ())}
                written = template.get("spec", {}).get(group) or ()
                spec[group] = [
                    {**item, "resources": resources_by_name.get(item.get("name", ""), {})} for item in written
                ]
            whole = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": status}
            yield decode_object(whole, Pod)


def _new_set(ref: ObjectRef, raw: Raw, older: Any) -> Any:
    """Return the ReplicaSet that a Deployment makes of a template that it did not have."""
    revision = _rank(older)[0] + 1 if older is not None else 1
    metadata = {
        "name": f"{ref.name}-{_NEW}",
        "namespace": ref.namespace,
        "annotations": {_REVISION: str(revision)},
        "ownerReferences": [{"kind": ref.kind, "name": ref.name, "uid": ref.name, "controller": True}],
    }
    kind = {"kind": "ReplicaSet", "apiVersion": BY_KIND["ReplicaSet"].api_version}
    return decode_object({**kind, "metadata": metadata, "spec": {"template": raw["spec"]["template"]}}, Workload)


def _with_status(item: Any, final_workload: FinalWorkload) -> Any:
    """Return the workload with the numbers of its end. Why pods are missing is not known any more."""
    updated = final_workload.updated if final_workload.updated is not None else final_workload.pods
    status = replace(
        item.status,
        replicas=final_workload.pods,
        ready_replicas=final_workload.ready,
        available_replicas=final_workload.ready,
        unavailable_replicas=max(0, final_workload.wanted - final_workload.ready),
        updated_replicas=updated,
        conditions=(),
    )
    return replace(item, status=status)


def _decode_object(raw: Raw, ref: ObjectRef) -> Any:
    metadata = {**(raw.get("metadata") or {}), **({"namespace": ref.namespace} if ref.namespace else {})}
    return decode_object({**raw, "metadata": metadata}, BY_KIND[ref.kind].struct)


def _template(item: Any) -> Any:
    return _template_of(raw_of(item)) if item is not None else None


def _template_of(raw: Raw) -> Any:
    return (raw.get("spec") or {}).get("template")


def _owner(item: Any) -> Any:
    return next(
        (owner_reference for owner_reference in item.metadata.owner_references or () if owner_reference.controller),
        None,
    )


def _has_owner(item: Any, ref: ObjectRef) -> bool:
    owner = _owner(item)
    return owner is not None and (owner.kind, owner.name) == (ref.kind, ref.name)


def _rank(item: Any) -> tuple[int, int]:
    text = (item.metadata.annotations or {}).get(_REVISION, "0")
    return int(text) if text.isdigit() else 0, item.spec.replicas or 0


def _ref(kind: str, item: Any) -> ObjectRef:
    return ObjectRef(kind, item.metadata.name, item.metadata.namespace)
