"""Capsule's other quotas, of a namespace or of all, with limits and use as their status says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.capsule.model import LABELS, CustomQuota, CustomSource, GlobalResourceQuota
from kubectl_kres.capsule.reports.common.amount_lists import amount, parsed, shown
from kubectl_kres.capsule.rules.conditions import READY, find
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.reports.common.scope_words import scope_words
from kubectl_kres.reports.quota.quota_report import QuotaReport, UsageShare, Use
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

_KINDS = ("GlobalResourceQuota", "GlobalCustomQuota")


def may_share(quotas: Iterable[ResourceQuota]) -> bool:
    """Whether such quotas are worth looking for beside these: where Capsule shows by its labels on one of them, or
    where there is no quota at all. On other clusters nobody should wait for three refusals.
    """
    resource_quotas = tuple(quotas)
    return not resource_quotas or any(
        key.startswith(LABELS) for resource_quota in resource_quotas for key in resource_quota.metadata.labels or {}
    )


def shared_needs(namespace: str) -> tuple[Need, ...]:
    """The reads of those that bear on a namespace; empty: on any."""
    return (Need("CustomQuota", namespace, required=False), *(Need(kind, required=False) for kind in _KINDS))


def shared_reports(store: Store, namespace: str) -> Iterator[QuotaReport]:
    """Quotas over several namespaces of which this is one, then those of the namespace itself; empty: all there are."""
    shared: Iterator[GlobalResourceQuota] = store.all("GlobalResourceQuota")
    for global_resource_quota in shared:
        if not namespace or namespace in (global_resource_quota.status.namespaces or ()):
            yield _of_global(global_resource_quota, namespace)
    counted: Iterator[CustomQuota] = store.all("GlobalCustomQuota")
    for custom in counted:
        if not namespace or namespace in (custom.status.namespaces or ()):
            yield _of_custom(custom)
    own: Iterator[CustomQuota] = store.all("CustomQuota", namespace or None)
    for custom in own:
        yield _of_custom(custom)


def _of_global(quota: GlobalResourceQuota, namespace: str) -> QuotaReport:
    total = quota.status.total
    hard, used = parsed(total.hard), parsed(total.used)
    by = quota.status.namespace_usage or {}
    return QuotaReport(
        ObjectRef("GlobalResourceQuota", quota.metadata.name),
        tuple(_use(name, hard[name], used.get(name, ZERO)) for name in sorted(hard)),
        scopes=scope_words(quota.spec.quota),
        enforced=bool(hard) or not quota.spec.quota.hard,
        by="namespace",
        shares=tuple(
            UsageShare(f"{space}{' (here)' if space == namespace else ''}", 0, shown(values), _percents(values, used))
            for space, usage in sorted(by.items())
            if (values := {name: value for name, value in parsed(usage.used).items() if value.nano})
        ),
        shared=tuple(quota.status.namespaces or ()),
        faults=_failing(quota),
    )


def _of_custom(quota: CustomQuota) -> QuotaReport:
    """One limit, over whatever is counted."""
    limit, used = amount(quota.spec.limit), amount(quota.status.usage.used)
    sources = quota.spec.sources or ()
    uses = (_use("limit", limit, used or ZERO),) if limit is not None else ()
    return QuotaReport(
        ObjectRef(quota.kind, quota.metadata.name, quota.metadata.namespace),
        uses,
        scopes=tuple(map(_source, sources)),
        enforced=bool(quota.status.conditions) or used is not None,
        shared=tuple(quota.status.namespaces or ()),
        faults=_failing(quota),
    )


def _failing(quota: GlobalResourceQuota | CustomQuota) -> tuple[str, ...]:
    ready = find(quota.status.conditions, READY)
    return (ready.message or ready.reason,) if ready is not None and ready.status == "False" else ()


def _source(source: CustomSource) -> str:
    """``the sum of .spec.replicas of Deployment``."""
    of = f"{source.kind} ({source.api_version})" if source.api_version not in {"", "v1"} else source.kind
    what = source.cel or source.path
    if source.op == "count":
        return f"the number of {of}"
    sign = "minus " if source.op == "sub" else ""
    return f"{sign}the sum of {what} of {of}" if what else f"{sign}{of}"


def _use(name: str, hard: Quantity, used: Quantity) -> Use:
    percent = used.nano * 100 // hard.nano if hard.nano > 0 else None
    return Use(name, str(hard), str(used), str(Quantity(hard.nano - used.nano, hard.format)), percent)


def _percents(values: dict[str, Quantity], totals: dict[str, Quantity]) -> dict[str, int]:
    return {name: value.nano * 100 // totals[name].nano if totals.get(name) else 0 for name, value in values.items()}
