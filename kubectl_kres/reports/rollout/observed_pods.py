"""Containers and values that live pods have and that no known rule explains: the next pod will have them, too.

Pods of the same template tell both; where there are none, those of an earlier template tell the containers, and else
those of the namespace that the same webhook was asked about.

Mostly a webhook added it. Pods that were resized in place do not count: values are taken only from pods that were not
changed since their creation.
"""

# ruff: noqa: PLC0415 - few clusters add containers, and few workloads lack pods
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, structs

from kubectl_kres.admission.limitrange import ANNOTATION
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.admission_objects import WEBHOOKS
from kubectl_kres.model.kinds import is_known
from kubectl_kres.model.pod import (
    VPA,
    AddedContainers,
    Container,
    DetailedTemplate,
    Pod,
    ResourceRequirements,
    with_containers,
)
from kubectl_kres.model.workload import Workload, template_of
from kubectl_kres.model.workload_kinds import REVISION_OWNERS, TEMPLATE_OWNERS
from kubectl_kres.provenance.journal import Set, Source
from kubectl_kres.quantity import stored_quantity
from kubectl_kres.reports.common.analysis import Analysis, PodManifest
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.owners import owned_by
from kubectl_kres.reports.common.replicas import newest_set_name
from kubectl_kres.reports.pod.manifest_source import annotation_sets
from kubectl_kres.store.store import Store

RULE = "seen/added-on-create"
#: So many of the pods are compared.
_MOST = 50
_LISTS = (("containers", "containers", "container"), ("initContainers", "init_containers", "init container"))

#: Container or init container, its name, and the side and resource of a value, with its text.
_Value = tuple[str, str, str, str, str]


class _Extra(Struct, frozen=True):
    """What one pod has beside the computed parts: containers by their list, and values."""

    added: tuple[tuple[str, Container], ...] = ()
    values: tuple[_Value, ...] = ()


def with_seen(store: Store, subject: Subject, analysis: Analysis, again: Callable[[PodManifest], Analysis]) -> Analysis:
    """Return the analysis of the next pod with what the others have; ``again`` makes it for another start."""
    manifest, owner, ref = analysis.manifest, analysis.manifest.owner, subject.ref
    draft = analysis.outcomes[0].draft
    if manifest.live is not None or draft is None or (subject.raw is None and owner is None):
        return analysis
    if owner is None:
        stored = store.get(ref.kind, ref.name, ref.namespace) if is_known(subject.kind) else None
        owner = stored if isinstance(stored, Workload) else None
    computed = {
        slot.name: {side: dict(slot.amounts_of(side)) for side in ("limits", "requests")} for slot in draft.slots()
    }
    pods = list(_newest_pods(store, subject, owner)) if owner is not None and subject.raw is None else []
    if not pods:
        added, origin_text = _additions_of_other_pods(store, subject, owner, manifest, set(computed))
        if added.added:
            return structs.replace(_analyse_with_extra(again, manifest, added, origin_text), manifest=manifest)
    groups: dict[str, list[_Extra]] = {}
    for pod in pods:
        extra = _build_extra(pod, computed)
        groups.setdefault(_cache_key(extra), []).append(extra)
    if not groups or list(groups) == [_cache_key(_Extra())]:
        return analysis
    analyses = [
        analysis
        if alike[0] == _Extra()
        else _analyse_with_extra(again, manifest, alike[0], f"on {len(alike)} of {len(pods)} pods")
        for alike in sorted(groups.values(), key=len, reverse=True)
    ]
    outcomes = tuple(outcome for analysis in analyses for outcome in analysis.outcomes)
    return structs.replace(analyses[0], manifest=manifest, outcomes=outcomes)


#: Who have the added containers where no pod of the template as it is exists.
_EARLIER = "on pods of an earlier template"


def _additions_of_other_pods(
    store: Store, subject: Subject, owner: Workload | None, manifest: PodManifest, names: set[str]
) -> tuple[_Extra, str]:
    """Return what earlier pods of the workload, or else all of the namespace, have beside their templates, and who.

    ``names``: of containers that the next pod has anyway.
    """
    if owner is not None and (earlier := _additions_of_earlier_pods(store, subject, owner, names)).added:
        return earlier, _EARLIER
    if next(store.all(WEBHOOKS[0]), None) is None:
        return _Extra(), ""
    from kubectl_kres.reports.rollout.injected_containers import injected_containers

    injected = injected_containers(store, subject.ref.namespace, manifest.pod.metadata.labels)
    return _Extra(tuple(item for item in injected.added if item[1].name not in names)), injected.text


class _Maker(Struct, frozen=True):
    """Who made pods, the revision that they carry (empty: all of its pods), and their template."""

    owner: tuple[str, str]
    revision: str
    template: DetailedTemplate | None


def _makers(store: Store, subject: Subject, owner: Workload) -> Iterator[_Maker]:
    kind, space, own = subject.ref.kind, subject.ref.namespace, (subject.ref.kind, subject.ref.name)
    made = {"Deployment": "ReplicaSet", "CronJob": "Job"}.get(kind)
    if made is not None:
        for item in owned_by(store, made, space, own):
            yield _Maker((made, item.metadata.name), "", template_of(item)[1])
    elif kind in REVISION_OWNERS:
        for item in owned_by(store, "ControllerRevision", space, own):
            # Pods of a DaemonSet carry only the hash of the name.
            name = item.metadata.name
            revision = name.removeprefix(f"{owner.metadata.name}-") if kind == "DaemonSet" else name
            yield _Maker(own, revision, item.data.spec.template)


def _additions_of_earlier_pods(store: Store, subject: Subject, owner: Workload, names: set[str]) -> _Extra:
    """Return the containers that the newest pod of an earlier template, or of an earlier Job, has beside its own
    template; none where that template is not known.
    """
    newest: tuple[str, Pod, set[str]] | None = None
    for maker in _makers(store, subject, owner):
        if maker.template is None:
            continue
        spec = maker.template.spec
        written = {container.name for container in (*(spec.containers or ()), *(spec.init_containers or ()))}
        for pod in owned_by(store, "Pod", subject.ref.namespace, maker.owner):
            time, labels = pod.metadata.creation_timestamp or "", pod.metadata.labels or {}
            of_revision = not maker.revision or labels.get("controller-revision-hash") == maker.revision
            if of_revision and (newest is None or time > newest[0]):
                newest = time, pod, written
    if newest is None:
        return _Extra()
    _, pod, written = newest
    added = [
        (key, structs.replace(item, resize_policy=None))
        for key, attribute, _ in _LISTS
        for item in getattr(pod.spec, attribute) or ()
        if item.name not in written | names
    ]
    return _Extra(tuple(added))


def _cache_key(extra: _Extra) -> str:
    """Return a key: pods that differ only in the image of an injected container have the same."""
    additions = tuple((key, structs.replace(container, image="")) for key, container in extra.added)
    return repr(structs.replace(extra, added=additions))


def _analyse_with_extra(
    again: Callable[[PodManifest], Analysis], manifest: PodManifest, extra: _Extra, origin_text: str
) -> Analysis:
    spec = manifest.pod.spec
    lists = {
        attribute: tuple(_set_values(item, key, extra.values) for item in getattr(spec, attribute) or ()) or None
        for key, attribute, _ in _LISTS
    }
    pod = with_containers(structs.replace(manifest.pod, spec=structs.replace(spec, **lists)), extra.added)
    analysis = again(structs.replace(manifest, pod=pod))
    steps = tuple(_steps(pod, manifest.pod, extra, origin_text))
    outcomes = tuple(structs.replace(outcome, journal=(*steps, *outcome.journal)) for outcome in analysis.outcomes)
    return structs.replace(analysis, outcomes=outcomes, seen_pod=pod)


def _newest_pods(store: Store, subject: Subject, owner: Workload) -> Iterator[Pod]:
    """Yield the newest pods of the current template; none where that is not certain."""
    if owner.status.observed_generation < owner.metadata.generation:
        return
    by, revision = (subject.ref.kind, subject.ref.name), ""
    if subject.ref.kind == "Deployment":
        by = ("ReplicaSet", newest_set_name(store, owner))
    elif subject.ref.kind == "StatefulSet":
        revision = owner.status.update_revision
    elif subject.ref.kind not in TEMPLATE_OWNERS:
        return
    result = [
        item
        for item in owned_by(store, "Pod", subject.ref.namespace, by)
        if item.metadata.deletion_timestamp is None
        and (not revision or (item.metadata.labels or {}).get("controller-revision-hash") == revision)
    ]
    result.sort(key=lambda value: value.metadata.creation_timestamp or "", reverse=True)
    yield from result[:_MOST]


def _build_extra(live: Pod, computed: dict[str, dict[str, dict[str, object]]]) -> _Extra:
    additions: list[tuple[str, Container]] = []
    values: list[_Value] = []
    filled = annotation_sets((live.metadata.annotations or {}).get(ANNOTATION, ""))
    # A pod that was changed since may have been resized; the VerticalPodAutoscaler says so itself.
    as_made = live.metadata.generation == 1 and VPA not in (live.metadata.annotations or {})
    for key, attribute, role in _LISTS:
        for item in getattr(live.spec, attribute) or ():
            if item.name not in computed:
                additions.append((key, structs.replace(item, resize_policy=None)))
            elif as_made:
                by_rule = {name for side in ("limits", "requests") for name in filled.get((role, item.name, side), ())}
                values += _rewritten(key, item, computed[item.name], by_rule)
    return _Extra(tuple(additions), tuple(values))


def _rewritten(
    key: str, live: Container, computed: dict[str, dict[str, object]], by_rule: set[str]
) -> Iterator[_Value]:
    resources = live.resources or ResourceRequirements()
    for side, mapping in (("limits", resources.limits), ("requests", resources.requests)):
        for name, text in sorted((mapping or {}).items()):
            if name not in by_rule and not _is_same_amount(text, computed[side].get(name)):
                yield key, live.name, side, name, str(text)


def _is_same_amount(text: object, quantity: object) -> bool:
    if quantity is None:
        return False
    try:
        return stored_quantity(text) == stored_quantity(str(quantity))
    except QuantityError:
        return False


def _set_values(container: Container, key: str, values: Sequence[_Value]) -> Container:
    mine = [value for value in values if value[:2] == (key, container.name)]
    if not mine:
        return container
    resources = container.resources or ResourceRequirements()
    sides = {"limits": dict(resources.limits or {}), "requests": dict(resources.requests or {})}
    for _, _, side, name, text in mine:
        sides[side][name] = text
    return structs.replace(container, resources=structs.replace(resources, **sides))


def added_steps(pod: Pod, added: AddedContainers, origin_text: str) -> Iterator[Set]:
    """Yield the origin of each value of containers that something adds to a pod. ``origin_text``: who has them."""
    yield from _steps(with_containers(pod, added), pod, _Extra(added), origin_text)


def _steps(pod: Pod, before: Pod, extra: _Extra, origin_text: str) -> Iterator[Set]:
    """Yield the origin of each of the values."""
    additions = {(key, container.name) for key, container in extra.added}
    rewritten = {value[:4] for value in extra.values}
    for key, attribute, _ in _LISTS:
        for index, entry in enumerate(getattr(pod.spec, attribute) or ()):
            resources = entry.resources or ResourceRequirements()
            for side, item in (("limits", resources.limits), ("requests", resources.requests)):
                for name, text in (item or {}).items():
                    if (key, entry.name) in additions or (key, entry.name, side, name) in rewritten:
                        previous = _previous_value(before, attribute, entry.name, side, name)
                        path = f"spec.{key}[{index}].resources.{side}[{name}]"
                        yield Set(path, RULE, str(text), previous, Source("Container", entry.name, "", origin_text))


def _previous_value(before: Pod, attribute: str, container: str, side: str, name: str) -> str | None:
    for item in getattr(before.spec, attribute) or ():
        if item.name == container and item.resources is not None:
            value = (getattr(item.resources, side) or {}).get(name)
            return None if value is None else str(value)
    return None
