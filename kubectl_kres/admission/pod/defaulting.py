"""Defaulting of a pod: what the server and its Priority and RuntimeClass plugins fill in, copy or drop before they
check it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import structs

from kubectl_kres.admission.base.draft import Draft, Quantities, ValueChange, change, draft_pod, parse_list, round_up
from kubectl_kres.admission.base.outcome import Finding, Refusal, forbidden_object
from kubectl_kres.admission.base.resource_names import is_huge_page, is_pod_level, may_overcommit
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import sum_containers
from kubectl_kres.model.objects import ObjectRef, PriorityClass, RuntimeClass
from kubectl_kres.model.pod import Container, Pod
from kubectl_kres.provenance.journal import Entry, Set, Source
from kubectl_kres.quantity import from_json


def default_pod(draft: Draft, ref: ObjectRef, journal: list[Entry] | None) -> None:
    """Fill, then round: sums over containers are made of what was written, before it is rounded up.

    Source: apis/core/v1/defaults.go SetDefaults_Pod, defaultHugePagePodLimits, defaultPodRequests.
    """
    field_source = Source(ref.kind, ref.name, ref.namespace)
    change(_requests_from_limits(draft, field_source), journal)
    default_pod_level(draft, ref, journal)
    round_up(draft)


def decoded_draft(pod: Pod, server: Server) -> Draft:
    """Return a stored pod's values as the server has them once it has decoded it. Raises Unparsable."""
    draft = draft_pod(pod, server)
    default_pod(draft, ObjectRef("Pod", pod.metadata.name), None)
    return draft


def default_pod_level(draft: Draft, ref: ObjectRef, journal: list[Entry] | None) -> None:
    """The pod-level part alone, which runs once more whenever the stored pod is read back; from 1.37 on not at all."""
    if draft.pod is None or draft.server.has_change("pod-level/default-after-admission"):
        return
    field_source = Source(ref.kind, ref.name, ref.namespace)
    change(_huge_page_limits(draft, field_source), journal)
    change(_pod_requests_from_containers(draft, field_source), journal)
    change(_pod_requests_from_limits(draft, field_source), journal)


def complete_pod_level(draft: Draft, ref: ObjectRef, journal: list[Entry] | None) -> None:
    """What is filled in at the pod level after the mutating plugins, from 1.37 on. An empty stanza stays empty.

    Source: api/pod/util.go DefaultPodLevelResources.
    """
    pod = draft.pod
    if pod is None or not (pod.limits or pod.requests):
        return
    field_source = Source(ref.kind, ref.name, ref.namespace)
    if draft.server.has_change("pod-level/default-after-admission"):
        change(_huge_page_limits(draft, field_source), journal)
        change(_pod_requests_from_containers(draft, field_source), journal)
        change(_pod_requests_from_limits(draft, field_source), journal)
    if draft.server.has_change("pod-level/limit-from-containers"):
        change(_pod_limits_from_containers(draft, field_source), journal)


def _requests_from_limits(draft: Draft, field_source: Source) -> Iterator[ValueChange]:
    for slot in (*draft.containers, *draft.inits):
        for name, limit in slot.limits.items():
            if name not in slot.requests:
                source = field_source.at_path(slot.path_of("limits", name))
                yield ValueChange(slot, "requests", name, limit, "defaulting/request-from-limit", source)


def _huge_page_limits(draft: Draft, field_source: Source) -> Iterator[ValueChange]:
    pod = draft.pod
    if pod is None or not (pod.limits or pod.requests):
        return
    for name, total in sum_containers(draft.containers, draft.inits, "limits").items():
        if is_huge_page(name) and name not in pod.requests and name not in pod.limits:
            source = field_source.at_path(f"sum of the containers' limits[{name}]")
            yield ValueChange(pod, "limits", name, total, "pod-level/hugepages-limit", source)


def _pod_requests_from_containers(draft: Draft, field_source: Source) -> Iterator[ValueChange]:
    pod = draft.pod
    if pod is None or not (pod.limits or draft.server.has_change("pod-level/default-after-admission")):
        return
    for name, total in sum_containers(draft.containers, draft.inits, "requests").items():
        if name not in pod.requests and is_pod_level(name) and may_overcommit(name):
            source = field_source.at_path(f"sum of the containers' requests[{name}]")
            yield ValueChange(pod, "requests", name, total, "pod-level/request-from-containers", source)


def _pod_requests_from_limits(draft: Draft, field_source: Source) -> Iterator[ValueChange]:
    pod = draft.pod
    if pod is None:
        return
    for name, limit in pod.limits.items():
        if name not in pod.requests and is_pod_level(name):
            yield ValueChange(
                pod,
                "requests",
                name,
                limit,
                "pod-level/request-from-limit",
                field_source.at_path(pod.path_of("limits", name)),
            )


def _pod_limits_from_containers(draft: Draft, field_source: Source) -> Iterator[ValueChange]:
    """Yield where every container has a limit: their sum, or the pod level's request if that is more."""
    pod = draft.pod
    if pod is None:
        return
    slots = (*draft.containers, *draft.inits)
    if draft.spec.ephemeral_containers:
        return
    sums = sum_containers(draft.containers, draft.inits, "limits")
    for name, request in pod.requests.items():
        if name in pod.limits or not is_pod_level(name) or not all(name in slot.limits for slot in slots):
            continue
        if name not in sums:
            continue
        if request > sums[name]:
            source = field_source.at_path(pod.path_of("requests", name))
            yield ValueChange(pod, "limits", name, request, "pod-level/limit-from-request", source)
        else:
            source = field_source.at_path(f"sum of the containers' limits[{name}]")
            yield ValueChange(pod, "limits", name, sums[name], "pod-level/limit-from-containers", source)


def without_unknown(pod: Pod, server: Server) -> Pod:
    """Return the pod without claims and container restart policies where the server has none of them.

    The very same where it has them; ``drop_gated_fields`` of ``decoding`` does it with the pod as JSON has it.

    Pod-level resources are dropped with the draft, which records it. An update keeps what the stored pod has; that a
    gate was switched off since is not looked at. Source: api/pod/util.go dropDisabledFields.
    """
    claims, rules = server.is_enabled("DynamicResourceAllocation"), server.is_enabled("ContainerRestartRules")
    if claims and rules:
        return pod
    spec = pod.spec
    return structs.replace(
        pod,
        spec=structs.replace(
            spec,
            resource_claims=spec.resource_claims if claims else None,
            containers=_drop_disabled_fields(spec.containers, claims=claims, rules=rules),
            init_containers=_drop_disabled_fields(spec.init_containers, claims=claims, rules=rules, init=True),
        ),
    )


def _drop_disabled_fields(
    containers: tuple[Container, ...] | None, *, claims: bool, rules: bool, init: bool = False
) -> tuple[Container, ...] | None:
    if containers is None:
        return None
    result = containers
    if not claims:
        result = tuple(
            structs.replace(container, resources=structs.replace(container.resources, claims=None))
            if container.resources
            else container
            for container in result
        )
    if not rules:
        result = tuple(
            container
            if init and container.restart_policy == "Always"
            else structs.replace(container, restart_policy=None)
            for container in result
        )
    return result


#: Classes that every server has, also where they are not listed.
SYSTEM_PRIORITIES = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
_PREEMPTS = "PreemptLowerPriority"


def set_priority(
    draft: Draft, name: str, classes: Mapping[str, PriorityClass] | None, journal: list[Entry] | None
) -> Refusal | None:
    """Give the global default class to a pod that names none; 403 for an unknown class.

    ``classes`` None: they could not be read, nothing is set or refused. Source: plugin/pkg/admission/priority.
    """
    if classes is None:
        return None
    expected = draft.spec.priority_class_name
    if not expected:
        defaults = [class_ for class_ in classes.values() if class_.global_default]
        if defaults:
            chosen = min(defaults, key=lambda priority_class: priority_class.value).metadata.name
            draft.priority_class = chosen
            if journal is not None:
                source = Source("PriorityClass", chosen, field="globalDefault")
                journal.append(Set("spec.priorityClassName", "priority/global-default", chosen, source=source))
        return None
    if expected in classes or expected in SYSTEM_PRIORITIES:
        return None
    text = f"no PriorityClass with name {expected} was found"
    return forbidden_object(
        "pods", name, (Finding(text, "priority/unknown-class", source=Source("PriorityClass", expected)),)
    )


def check_priority(draft: Draft, name: str, classes: Mapping[str, PriorityClass] | None) -> Refusal | None:
    """403 for a priority or preemption policy that the pod brings and its class does not give.

    Source: plugin/pkg/admission/priority admitPod.
    """
    if classes is None:
        return None
    chosen = draft.priority_class
    priority_class = classes.get(chosen)
    value, policy = SYSTEM_PRIORITIES.get(chosen, 0), _PREEMPTS
    if priority_class is not None:
        value, policy = priority_class.value, priority_class.preemption_policy or _PREEMPTS
    brought: tuple[tuple[str, object, object], ...] = (
        ("integer value of priority", draft.spec.priority, value),
        ("string value of PreemptionPolicy", draft.spec.preemption_policy, policy),
    )
    for what, sent_value, computed in brought:
        if sent_value is not None and sent_value != computed:
            text = (
                f"the {what} ({sent_value}) must not be provided in pod spec; "
                f"priority admission controller computed {computed} from the given PriorityClass name"
            )
            source = Source("PriorityClass", chosen) if chosen else None
            return forbidden_object("pods", name, (Finding(text, "priority/brought", source=source),))
    return None


def set_overhead(
    draft: Draft, name: str, classes: Mapping[str, RuntimeClass] | None, journal: list[Entry] | None
) -> Refusal | None:
    """Copy ``overhead.podFixed``; 403 for an unknown class or another overhead in the pod, 500 for an empty name.

    Source: plugin/pkg/admission/runtimeclass.
    """
    expected = draft.spec.runtime_class_name
    if expected == "":
        # Not the same as absent: the server looks for a class without a name and fails.
        text = "resource name may not be empty"
        return Refusal(500, "", text, (Finding(text, "runtime-class/unknown", "spec.runtimeClassName"),))
    if expected is None or classes is None:
        return None
    runtime_class = classes.get(expected)
    source = Source("RuntimeClass", expected, field="overhead.podFixed")
    if runtime_class is None:
        text = f'pod rejected: RuntimeClass "{expected}" not found'
        return forbidden_object("pods", name, (Finding(text, "runtime-class/unknown", source=source),))
    if runtime_class.overhead is None:
        return None
    # The plugin reads it as it was sent, and quotas count it so: it is rounded only where the pod is stored.
    fixed = parse_list(runtime_class.overhead.pod_fixed, "overhead.podFixed", read=from_json)
    if draft.overhead and draft.overhead != fixed:
        text = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        return forbidden_object("pods", name, (Finding(text, "runtime-class/overhead-differs", source=source),))
    _put_overhead(draft, fixed, source, journal)
    return None


def check_overhead(draft: Draft, name: str, classes: Mapping[str, RuntimeClass] | None) -> Refusal | None:
    """403 for an overhead, even empty, that no runtime class explains; after validation and the LimitRange bounds.

    ``classes`` None: they could not be read; a pod that names none needs none of them to be refused.
    """
    if not draft.overhead and draft.spec.overhead is None:
        return None
    expected = draft.spec.runtime_class_name or ""
    if expected and classes is None:
        return None
    runtime_class = (classes or {}).get(expected)
    if runtime_class is not None and runtime_class.overhead is not None:
        return None
    text = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    return forbidden_object("pods", name, (Finding(text, "runtime-class/overhead-unexplained"),))


def _put_overhead(draft: Draft, fixed: Quantities, source: Source, journal: list[Entry] | None) -> None:
    for name, quantity in fixed.items():
        before = draft.overhead.get(name)
        draft.overhead[name] = quantity
        if journal is not None and before is None:
            field_source = source.at_path(f"overhead.podFixed[{name}]")
            journal.append(Set(f"spec.overhead[{name}]", "runtime-class/overhead", str(quantity), source=field_source))
