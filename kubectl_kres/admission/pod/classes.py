"""Priority and RuntimeClass plugins: named classes are looked up, a runtime's overhead is copied into the pod."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.admission.base.draft import Draft, Quantities, parse_list
from kubectl_kres.admission.base.outcome import Finding, Refusal, forbidden_object
from kubectl_kres.model.policy import PriorityClass, RuntimeClass
from kubectl_kres.provenance.journal import Entry, Set, Source
from kubectl_kres.quantity import from_json

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
    wanted = draft.spec.priority_class_name
    if not wanted:
        defaults = [class_ for class_ in classes.values() if class_.global_default]
        if defaults:
            chosen = min(defaults, key=lambda priority_class: priority_class.value).metadata.name
            draft.priority_class = chosen
            if journal is not None:
                source = Source("PriorityClass", chosen, field="globalDefault")
                journal.append(Set("spec.priorityClassName", "priority/global-default", chosen, source=source))
        return None
    if wanted in classes or wanted in SYSTEM_PRIORITIES:
        return None
    text = f"no PriorityClass with name {wanted} was found"
    return forbidden_object(
        "pods", name, (Finding(text, "priority/unknown-class", source=Source("PriorityClass", wanted)),)
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
    for what, given, computed in brought:
        if given is not None and given != computed:
            text = (
                f"the {what} ({given}) must not be provided in pod spec; "
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
    wanted = draft.spec.runtime_class_name
    if wanted == "":
        # Not the same as absent: the server looks for a class without a name and fails.
        text = "resource name may not be empty"
        return Refusal(500, "", text, (Finding(text, "runtime-class/unknown", "spec.runtimeClassName"),))
    if wanted is None or classes is None:
        return None
    runtime_class = classes.get(wanted)
    source = Source("RuntimeClass", wanted, field="overhead.podFixed")
    if runtime_class is None:
        text = f'pod rejected: RuntimeClass "{wanted}" not found'
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
    wanted = draft.spec.runtime_class_name or ""
    if wanted and classes is None:
        return None
    runtime_class = (classes or {}).get(wanted)
    if runtime_class is not None and runtime_class.overhead is not None:
        return None
    text = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    return forbidden_object("pods", name, (Finding(text, "runtime-class/overhead-unexplained"),))


def _put_overhead(draft: Draft, fixed: Quantities, source: Source, journal: list[Entry] | None) -> None:
    for name, quantity in fixed.items():
        before = draft.overhead.get(name)
        draft.overhead[name] = quantity
        if journal is not None and before is None:
            at = source.at(f"overhead.podFixed[{name}]")
            journal.append(Set(f"spec.overhead[{name}]", "runtime-class/overhead", str(quantity), source=at))
