"""Names of quotas that a pod without a value passes: only cpu and memory have to be stated.

Source: quota/v1/evaluator/core/pods.go Constraints (validationSet), podComputeUsageHelper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.model.objects import LimitRange, LimitRangeItem

_RESOURCE = "ephemeral-storage"
_REQUESTS, _LIMITS = frozenset({_RESOURCE, f"requests.{_RESOURCE}"}), f"limits.{_RESOURCE}"


def optional_names(hard: Iterable[str], limit_ranges: Iterable[LimitRange]) -> Iterator[str]:
    """Yield the names for which a pod that states no value costs nothing and is admitted.

    Names for which a LimitRange gives each container a value, or refuses a pod without one, are not among them.
    """
    items = [item for limit_range in limit_ranges for item in limit_range.spec.limits or ()]
    for name in hard:
        ours = name == _LIMITS or name in _REQUESTS
        if ours and not any(_demands(item, limits=name == _LIMITS) for item in items):
            yield name


def _demands(item: LimitRangeItem, *, limits: bool) -> bool:
    """Return whether the item gives each pod a limit (else: a request). A minimum requires a request, a maximum for a
    limit; a container without a request gets its limit as its request.

    Source: plugin/pkg/admission/limitranger minConstraint, maxConstraint; apis/core/v1 SetDefaults_LimitRangeItem.
    """
    own = (item.max, item.default) if limits else (item.min, item.max, item.default, item.default_request)
    return item.type in {"Container", "Pod"} and any(_RESOURCE in (values or {}) for values in own)
