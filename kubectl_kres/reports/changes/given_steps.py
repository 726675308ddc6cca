"""The steps of a change as they were given: which of them a simulation follows, what is said of the others, and what it
reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.admission.quota.quota_admission import resource_of
from kubectl_kres.model.admission_objects import WEBHOOKS
from kubectl_kres.model.kinds import BY_KIND, Kind, served_kind_name
from kubectl_kres.model.objects import ObjectRef, OwnerReference, Raw, mapping
from kubectl_kres.model.pod_places import is_followed, is_of_others, is_suspended, makes_none, may_make_pods, parts_of
from kubectl_kres.model.workload import template_in
from kubectl_kres.model.workload_kinds import MADE_BY, POD_MAKERS
from kubectl_kres.record import Filled, Wording
from kubectl_kres.reports.changes.notes import NotSimulated, StepRemark, UnknownStep
from kubectl_kres.reports.changes.system import next_pod_makers, system_needs, systems
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import FailedRead
from kubectl_kres.reports.pod.injecting_webhooks import injector_needs
from kubectl_kres.reports.pod.preflight import namespace_refusal
from kubectl_kres.simulate.change import Apply, Delete, Step, key_of_step
from kubectl_kres.simulate.live import IN_NAMESPACE, OF_CLUSTER, raw_of
from kubectl_kres.simulate.plugins import POLICIES, Parameters, parameters_of
from kubectl_kres.simulate.state import CONTROLLED
from kubectl_kres.simulate.system import kept_kinds
from kubectl_kres.store.parameters import parameter_need
from kubectl_kres.store.store import ReadRequest, Store

_ORDER = (
    "Namespace", "PriorityClass", "RuntimeClass", "StorageClass", "DeviceClass", "ResourceClaimTemplate", *POLICIES,
    "ResourceQuota", "LimitRange", "PersistentVolumeClaim", "Service", "Pod", *POD_MAKERS, "HorizontalPodAutoscaler",
)  # fmt: skip
#: Kinds whose objects controllers make, too.
MADE = frozenset({"Pod", *MADE_BY})
#: API groups of which every kind is in our table, or makes no pods.
_KNOWN_GROUPS: Mapping[str, frozenset[str]] = {
    "apps": frozenset({"ControllerRevision"}),
    "batch": frozenset(),
    "extensions": frozenset(),
    "": frozenset(
        {
            "Binding",
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "Namespace",
            "Node",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
            "PodTemplate",
            "ReplicationController",
            "ResourceQuota",
            "Secret",
            "Service",
            "ServiceAccount",
        }
    ),
}
#: Versions of Kubernetes' own kinds that not every server has.
_PASSING = re.compile("[0-9](alpha|beta)[0-9]")
#: What Helm runs for ``helm test`` alone, by the words of its annotation.
_HOOK, _TESTS = "helm.sh/hook", frozenset({"test", "test-success", "test-failure"})


class GivenStep(Struct, frozen=True):
    """A step as it was written: the kind of its object, None where no table has it, and where it was said."""

    step: Step
    kind: Kind | None
    namespace: str
    label: str


@cache
def application_order() -> tuple[str, ...]:
    """Return the kinds in the order in which they are applied.

    Before a chart's workloads come what bounds them and what they refer to, as kubectl and Helm order kinds.
    """
    before: dict[str, list[str]] = {}
    for system in systems():
        for kind, following in system.applied_before.items():
            before.setdefault(following, []).append(kind)
    return tuple(each for kind in _ORDER for each in (*before.get(kind, ()), kind))


@cache
def _not_followed() -> Mapping[str, Wording]:
    """Return by kind what is said of objects that decide about pods, or make some, in a way that is not computed."""
    return {
        **{kind: UnknownStep("webhooks", kind) for kind in WEBHOOKS},
        **{
            kind: Filled(template, {"kind": kind})
            for system in systems()
            for kind, template in system.not_followed.items()
        },
    }


def is_helm_test(raw: Raw) -> bool:
    """Return whether an object is there for ``helm test``, so that no release makes it."""
    hooks = str(mapping(mapping(raw, "metadata"), "annotations").get(_HOOK) or "")
    return bool(hooks) and {hook.strip() for hook in hooks.split(",")} <= _TESTS


def policies_of(steps: Iterable[GivenStep], store: Store) -> list[Raw]:
    """Return the policies and bindings that exist, and all objects of the change."""
    stored = [raw_of(item) for kind in POLICIES for item in store.all(kind)]
    return [*stored, *(item.step.object for item in steps if isinstance(item.step, Apply))]


def split_followed_steps(
    steps: Sequence[GivenStep], store: Store, default: str, serves: Callable[[str, str], bool]
) -> tuple[list[GivenStep], list[FailedRead]]:
    """Return the steps that are carried out, and what is not known of these and of the others.

    ``default``: the namespace of what names none. ``serves``: whether the server has a kind in a version. Kinds of API
    groups that are the server's own make pods only where they are followed.
    """
    policies = policies_of(steps, store)
    parameters = parameters_of(policies)
    of_policies = {str(mapping(mapping(policy, "spec"), "paramKind").get("kind")) for policy in policies}
    new = {key_of_step(item.step)[1] for item in steps if key_of_step(item.step)[0] == "Namespace"}
    carried: list[GivenStep] = []
    failed_reads: list[FailedRead] = []
    for item in steps:
        kind, name = key_of_step(item.step)
        space, is_carried = item.namespace, True
        if isinstance(item.step, Apply) and is_helm_test(item.step.object):
            continue
        refused = _no_kind(item, serves) or _no_namespace(item, store, default, new)
        if refused:
            carried.append(replace(item, step=replace(item.step, refused=refused)))
            continue
        if parameters.is_parameter_step(item.step):
            space = (space or default) if item.kind is None or item.kind.namespaced else ""
            text: Wording | None = _unknown_of_parameter(item, parameters, store, space)
            is_carried = not text
        elif kind in of_policies and (isinstance(item.step, Apply) or item.kind is not None):
            text = UnknownStep("before", kind)
        elif not isinstance(item.step, Apply):
            text = _unknown_of_named_object(item, store)
            is_carried = not text
        else:
            text = _unknown_of_made_object(item, store, default) or _unknown_of_its_pods(item, store)
            unknown = (item.kind is None and kind in BY_KIND) or _is_running(item, store)
            is_carried = not (unknown or _unknown_of_made_object(item, store, default))
        if text:
            failed_reads.append(FailedRead(kind, "failed", space, name, text))
        if is_carried:
            carried.append(item)
    return carried, failed_reads


def _no_kind(item: GivenStep, serves: Callable[[str, str], bool]) -> str:
    """Return the sentence for a kind that the server does not have in that version.

    Of groups whose kinds are all known here the server is not asked, and of Kubernetes' other kinds only about versions
    that come and go.
    """
    if not isinstance(item.step, Apply):
        return ""
    kind, version = str(item.step.object.get("kind", "")), str(item.step.object.get("apiVersion", ""))
    group, known_kind = version.rpartition("/")[0], BY_KIND.get(kind)
    if group in _KNOWN_GROUPS:
        more = kind in _KNOWN_GROUPS[group] and version.removeprefix(f"{group}/") == "v1"
        served = more or (known_kind is not None and known_kind.api_version == version)
    else:
        asked = item.kind is None if is_of_others(group) else _PASSING.search(version) is not None
        served = not asked or serves(served_kind_name(kind), version)
    return "" if served else f'no matches for kind "{served_kind_name(kind)}" in version "{version}"'


def _no_namespace(item: GivenStep, store: Store, default: str, new: Container[str]) -> str:
    """Return the server's answer to a new object whose namespace does not exist, or is ending. ``new``: those of the
    change.
    """
    kind, name = key_of_step(item.step)
    space = item.namespace or default
    if not isinstance(item.step, Apply) or (item.kind is not None and not item.kind.namespaced) or space in new:
        return ""
    if kind in BY_KIND and store.get(kind, name, space) is not None:
        return ""
    refusal = namespace_refusal(
        store, ObjectRef(kind, name, space), resource_of(kind, str(item.step.object.get("apiVersion")))
    )
    return refusal.message if refusal is not None else ""


def _unknown_of_parameter(item: GivenStep, parameters: Parameters, store: Store, space: str) -> UnknownStep | None:
    """Return why it is not known what a step about a parameter leaves; None where it is."""
    kind, name = key_of_step(item.step)
    if item.kind is None:
        return UnknownStep("scope", kind)
    if isinstance(item.step, Apply):
        return None
    read = parameter_need(parameters.versions[kind], kind, space, {"name": name})
    present = any(stored.metadata.name == name for stored in store.all(read.kind, space))
    return None if present or store.covered(read).is_known else UnknownStep("parameter", kind)


def _unknown_of_named_object(item: GivenStep, store: Store) -> Wording:
    """Return why it is not known what a step does that names an object; empty where it is, or where there is none."""
    kind, name = key_of_step(item.step)
    is_known = kind in application_order() or any(maker.defines(kind, name) for maker in next_pod_makers())
    removed = isinstance(item.step, Delete) and kind in _not_followed()
    if not is_known or removed or (kind == "Pod" and not isinstance(item.step, Delete)):
        return _not_followed().get(kind, UnknownStep("change", kind))
    for pod in store.all("Pod", item.namespace or None) if (kind, Delete) == ("Pod", type(item.step)) else ():
        owner = controller_of(pod)
        if pod.metadata.name != name or owner is None:
            continue
        made = store.get(owner.kind, owner.name, pod.metadata.namespace) if owner.kind in CONTROLLED else None
        above = controller_of(made) if made is not None else None
        if made is None or (above is not None and above.kind != "Deployment"):
            return UnknownStep("without", owner.kind, owner.name)
    return ""


def _unknown_of_made_object(item: GivenStep, store: Store, default: str) -> UnknownStep | None:
    """Return what is not known of an object in a file that is there already, where a controller made it or it is a pod.

    None of all else.
    """
    kind, name = key_of_step(item.step)
    stored = store.get(kind, name, item.namespace or default) if kind in BY_KIND else None
    owner = controller_of(stored) if stored is not None and kind in MADE else None
    if owner is not None:
        return UnknownStep("maker", owner.kind, owner.name, kind)
    return UnknownStep("pod", kind) if stored and kind == "Pod" else None


def controller_of(item: Any) -> OwnerReference | None:
    """Return the controller that manages an object; None: there is none."""
    owners: Iterable[OwnerReference] = item.metadata.owner_references or ()
    return next((owner for owner in owners if owner.controller), None)


def _unknown_of_its_pods(item: GivenStep, store: Store) -> Wording:
    """Return what of the pods of an object is not known; empty where all is, or where it makes none."""
    step = item.step
    kind, _ = key_of_step(step)
    if not isinstance(step, Apply) or (item.kind is not None and kind in application_order()):
        return ""
    group = str(step.object.get("apiVersion") or "").rpartition("/")[0]
    if _is_running(item, store):
        return UnknownStep("running", kind)
    if is_followed(step.object) or makes_none(step.object):
        return ""
    if parts_of(step.object):
        most = mapping(step.object, "spec").get("parallelism")
        bound = most if isinstance(most, int) and group == "argoproj.io" else None
        return UnknownStep("at-once", kind, most=bound)
    if item.kind is not None and kind in _not_followed():
        return _not_followed()[kind]
    if parts_of(step.object) is not None:
        return UnknownStep("pods", kind)
    if item.kind is None and may_make_pods(group, kind):
        return UnknownStep("makes-pods", kind, group=group)
    return ""


def _is_running(item: GivenStep, store: Store) -> bool:
    """Return whether an object that makes pods elsewhere than at ``spec.template`` has pods. It is not read itself."""
    if not isinstance(item.step, Apply) or parts_of(item.step.object) is None:
        return False
    name = key_of_step(item.step)[1]
    key = (served_kind_name(str(item.step.object.get("kind"))), name)
    made = (stored for kind in ("Pod", *POD_MAKERS) for stored in store.all(kind, item.namespace or None))
    return any((owner.kind, owner.name) == key for stored in made for owner in stored.metadata.owner_references or ())


def remarks(steps: Sequence[GivenStep]) -> Iterator[StepRemark]:
    """Yield what is said of objects whose controllers make more than pods, or make their pods later."""
    objects = [item.step.object for item in steps if isinstance(item.step, Apply)]
    for kind in dict.fromkeys(str(raw.get("kind")) for raw in objects if is_followed(raw)):
        yield StepRemark("pods-alone", kind)
    for raw in objects:
        kind, name = str(raw.get("kind")), str(mapping(raw, "metadata").get("name", ""))
        if is_helm_test(raw):
            yield StepRemark("helm-test", kind, name)
        elif is_suspended(raw):
            yield StepRemark("suspended", kind, name)
        elif kind == "VolcanoJob" and parts_of(raw):
            least = mapping(raw, "spec").get("minAvailable")
            yield StepRemark("queued", kind, name, least if isinstance(least, int) else None)


def ignored_enforcement(store: Store, spaces: Iterable[str]) -> Iterator[NotSimulated]:
    """Yield what a system enforces on the pods of a namespace and no step here takes into account."""
    for space in spaces:
        namespace_policies = policies(store, space).policies
        names = [str(quota.source.ref) for quota in namespace_policies.quotas if quota.words is not None]
        names += [webhook.title for webhook in namespace_policies.webhooks if not webhook.simulated]
        if names:
            yield NotSimulated(space, tuple(names))


#: Without these it is not known who is hurt.
_REQUIRED = frozenset({"LimitRange", "ResourceQuota", "Pod", *POD_MAKERS})


def namespace_needs(spaces: Iterable[str]) -> Iterator[ReadRequest]:
    """Yield the reads for some namespaces; an empty name stands for all."""
    for space in spaces:
        for kind in (*IN_NAMESPACE, "Pod"):
            yield ReadRequest(kind, space, required=kind in _REQUIRED)
    for kind in OF_CLUSTER:
        if kind not in POLICIES:
            yield ReadRequest(kind, required=False)


def taking_needs(spaces: Iterable[str]) -> Iterator[ReadRequest]:
    """Yield the reads where nothing makes pods: the policies about PersistentVolumeClaims and Services, and those
    objects.
    """
    for space in spaces:
        for kind in ("LimitRange", "ResourceQuota", "PersistentVolumeClaim", "Service"):
            yield ReadRequest(kind, space, required=kind in _REQUIRED)
    yield ReadRequest("StorageClass", required=False)


def plugin_needs(store: Store, spaces: Iterable[str], steps: Sequence[tuple[Step, str]] = ()) -> Iterator[ReadRequest]:
    """Yield what else decides about pods, as far as that is known by now, so that it is asked again after each reading.

    ``steps``: with their namespaces. ControllerRevisions where a quota counts them.
    """
    spaces = tuple(spaces)
    quotas = [{"spec": {"hard": quota.spec.hard}} for quota in store.all("ResourceQuota")]
    changes = (getattr(step, "object", getattr(step, "patch", {})) for step, _ in steps)
    if any("count/controllerrevisions.apps" in mapping(mapping(raw, "spec"), "hard") for raw in (*quotas, *changes)):
        yield from (ReadRequest("ControllerRevision", space, required=False) for space in dict.fromkeys(spaces))
    for step, namespace in steps:
        found = template_in(step.object) if isinstance(step, Apply) else None
        if found is not None:
            # What webhooks add to pods, those of the namespace show.
            yield ReadRequest(WEBHOOKS[0], required=False)
            yield from injector_needs(store, namespace, mapping(mapping(found[1], "metadata"), "labels"))
    yield from _account_needs(steps)
    yield from system_needs(store, spaces, steps)


def _account_needs(steps: Iterable[tuple[Step, str]]) -> Iterator[ReadRequest]:
    """Yield the reads of the ServiceAccounts that pods of files name: without it the server refuses them."""
    for step, namespace in steps:
        raw = step.object if isinstance(step, Apply) else {}
        found = template_in(raw)
        spec = mapping(found[1] if found is not None else raw if raw.get("kind") == "Pod" else {}, "spec")
        name = str(spec.get("serviceAccountName") or spec.get("serviceAccount") or "")
        if name and name != "default":
            yield ReadRequest("ServiceAccount", namespace, name, required=False)


def cluster_needs() -> Iterator[ReadRequest]:
    """Yield the reads for steps about namespaces and what systems keep: quotas of any namespace may change."""
    for kind in ("Namespace", *kept_kinds(), "ResourceQuota"):
        yield ReadRequest(kind)
