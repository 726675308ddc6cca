"""The scopes of a quota in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.admission.quota.scopes import requirements
from kubectl_kres.model.policy import ResourceQuotaSpec, ScopedRequirement

_PODS: Mapping[str, str] = {
    "Terminating": "pods with activeDeadlineSeconds",
    "NotTerminating": "pods without activeDeadlineSeconds",
    "BestEffort": "BestEffort pods, which have no request and no limit of cpu and memory",
    "NotBestEffort": "pods with a request or a limit of cpu or memory",
    "CrossNamespacePodAffinity": "pods whose affinity terms look into other namespaces",
}
#: Scope to the objects that have a class, and the word for it.
_CLASSES: Mapping[str, tuple[str, str]] = {
    "PriorityClass": ("pods", "priority class"),
    "VolumeAttributesClass": ("claims", "volume attributes class"),
}


def scope_words(spec: ResourceQuotaSpec) -> tuple[str, ...]:
    """What a quota counts, one phrase for each scope, all of which must hold; empty: everything in the namespace."""
    return tuple(map(_phrase, requirements(spec)))


def _phrase(scope: ScopedRequirement) -> str:
    name = scope.scope_name
    if name in _PODS and scope.operator == "Exists":
        return f"only {_PODS[name]}"
    if name in _CLASSES:
        return f"only {_classed(*_CLASSES[name], scope)}"
    operator = f" with operator {scope.operator}" if name in _PODS else ""
    return f"nothing: scope {name}{operator} is none that the server knows"


def _classed(objects: str, word: str, scope: ScopedRequirement) -> str:
    match scope.operator:
        case "Exists":
            return f"{objects} with a {word}"
        case "DoesNotExist":
            return f"{objects} without a {word}"
        case "In":
            return f"{objects} of {word} {_either(scope.values or ())}"
        case "NotIn":
            return f"{objects} without a {word}, or of another one than {_either(scope.values or ())}"
        case _:
            return f"{objects} by an operator {scope.operator} that the server does not know"


def _either(values: Sequence[str]) -> str:
    return " or ".join(_listed(values)) or "none"


def _listed(values: Sequence[str]) -> Iterator[str]:
    if values[:-1]:
        yield ", ".join(values[:-1])
    yield from values[-1:]
