"""What quotas demand that every container states, and which containers do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_kres.admission.limitrange.limitrange_object import Limits
from kubectl_kres.admission.quota.quota_admission import MUST_SPECIFY, Quota, QuotaRequest, concerned
from kubectl_kres.reports.common.explanation import Demand


def demands(quotas: Sequence[Quota], limits: Iterable[Limits]) -> Iterator[Demand]:
    """The rule of each quota that has it, for any pod in its scopes; ``unfilled``: names without a default."""
    filled = set(_filled(limits))
    for quota in quotas:
        names = tuple(sorted(MUST_SPECIFY & set(quota.hard)))
        if names:
            yield Demand(quota.name, names, tuple(name for name in names if name not in filled))


def _filled(limits: Iterable[Limits]) -> Iterator[str]:
    """The names of quotas that the defaults of LimitRanges state for a container. A limit becomes the request, too."""
    for limit in limits:
        for item in limit.items:
            if item.type == "Container":
                yield from (f"limits.{name}" for name in item.default)
                for name in {*item.default, *item.default_request}:
                    yield from (f"requests.{name}", name)


def demands_of(request: QuotaRequest, quotas: Sequence[Quota]) -> Iterator[Demand]:
    """The rule of each quota that concerns a pod, with the containers that fail it; none where it is lifted.

    Source: evaluator/core/pods.go Constraints.
    """
    if request.containers is None:
        return
    for quota in concerned(request, quotas):
        names = tuple(sorted(MUST_SPECIFY & set(quota.hard)))
        lacking = {
            name: tuple(sorted({container for container, stated in request.containers if name not in stated}))
            for name in names
        }
        if names:
            yield Demand(quota.name, names, lacking={name: who for name, who in lacking.items() if who})
