"""Names in a sentence, percentages, and the share from which a quota or pool counts as nearly full.

It also puts the scopes of a quota into plain words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubectl_kres.admission.quota.usage import requirements
from kubectl_kres.model.objects import ResourceQuotaSpec, ScopedRequirement
from kubectl_kres.quantity import Quantity
from kubectl_kres.wording import join_words

#: Percent that is used from which a quota or a pool is nearly full, wherever that is shown.
NEARLY_FULL = 90


def percent_of(part: Quantity, whole: Quantity) -> int | None:
    """Return the share in whole hundredths, rounded down; None if the whole is 0."""
    return part.nano * 100 // whole.nano if whole.nano > 0 else None


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
    """Return what a quota counts, one phrase for each scope, all of which must match; empty: everything in the
    namespace.
    """
    return tuple(map(_phrase, requirements(spec)))


def _phrase(scope: ScopedRequirement) -> str:
    name = scope.scope_name
    if name in _PODS and scope.operator == "Exists":
        return f"only {_PODS[name]}"
    if name in _CLASSES:
        return f"only {_format_scope(*_CLASSES[name], scope)}"
    operator = f" with operator {scope.operator}" if name in _PODS else ""
    return f"nothing: scope {name}{operator} is none that the server knows"


def _format_scope(objects: str, word: str, scope: ScopedRequirement) -> str:
    match scope.operator:
        case "Exists":
            return f"{objects} with a {word}"
        case "DoesNotExist":
            return f"{objects} without a {word}"
        case "In":
            return f"{objects} of {word} {_format_alternatives(scope.values or ())}"
        case "NotIn":
            return f"{objects} without a {word}, or of another one than {_format_alternatives(scope.values or ())}"
        case _:
            return f"{objects} by an operator {scope.operator} that the server does not know"


def _format_alternatives(values: Sequence[str]) -> str:
    return join_words(values, "or") or "none"
