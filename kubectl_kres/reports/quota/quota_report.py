"""The answer of ``quota``: what a quota limits, what is used and left, who uses it, and whether its status is
correct.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import cast

from msgspec import structs

from kubectl_kres.admission.base.draft import Quantities, Unparsable, parse_list
from kubectl_kres.admission.pod.aggregate import add_into
from kubectl_kres.admission.quota import quota_object
from kubectl_kres.admission.quota.usage import requirements
from kubectl_kres.admission.quota.usage_drift import Drift, find_drifts, recount
from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import LimitRange, LimitRangeItem, ObjectRef, ResourceQuota
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import ZERO, Quantity
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common.effective_policies import extended_resources, with_assumed_status
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, find_unread
from kubectl_kres.reports.common.resource_lists import percent_of, scope_words
from kubectl_kres.reports.common.system import AboutSharedQuotas, ownership_of, quota_keepers, reads_for
from kubectl_kres.reports.quota import usage_tree
from kubectl_kres.reports.quota.uncounted_names import uncounted_name
from kubectl_kres.store.store import ReadRequest, Store

#: What is used put down to the values of pods, and to what set them.
VALUE = "value"
#: Percent of what is used although nothing may be.
_OF_NOTHING = 10_000


class QuotaUse(Record, frozen=True):
    """One name of a quota: ``used`` + ``free`` = ``hard``. ``used`` absent: the quota controller has not counted yet.

    percent: ``used`` of ``hard`` in whole hundredths, rounded down; of a ``hard`` of zero 10000, absent if nothing is
    used. spec_hard: ``spec.hard`` where it is not what is enforced, empty if it no longer names the resource. counted:
    what a recount found. unread:
    the kind that a recount would need and that was not read. optional: a pod that states no value costs nothing here,
    unless a LimitRange gives one. limits_nothing: what was probably meant by a name that nothing counts for.
    """

    name: str
    hard: str
    used: str | None = None
    free: str | None = None
    percent: int | None = None
    spec_hard: str | None = None
    counted: str | None = None
    drift: Drift | None = None
    unread: str = ""
    optional: bool = False
    limits_nothing: Wording = ""

    @property
    def is_exceeded(self) -> bool:
        """Return whether more is used than allowed, as it can be after ``hard`` was lowered."""
        return self.free is not None and self.free.startswith("-")


class UsageShare(Record, frozen=True):
    """The use of one workload, pod, priority class or other object. ``pods``: how many pods that is."""

    name: str
    pods: int
    usage: Mapping[str, str]
    percents: Mapping[str, int] = {}


class QuotaReport(Record, frozen=True):
    """A quota. ``scopes``: what it counts, in words; empty: everything. ``enforced`` False: it has no status yet.
    ``supposed``: it comes from a file, and is taken as enforced with nothing used.

    ``grouped_by``: the grouping of ``shares``; the largest of each name come first there. ``tree``: the same down to
    the values of pods, where that was asked for. ``recounted``: the uses have the recounted amounts. ``faults``: why
    the server would not store it. ``pool``: the resource pool of Capsule that keeps it. ``shared``: the namespaces that
    share it, of a quota of Capsule, which are reported from its status.
    """

    subject: ObjectRef
    uses: tuple[QuotaUse, ...]
    scopes: tuple[str, ...] = ()
    enforced: bool = True
    supposed: bool = False
    grouped_by: str = ""
    shares: tuple[UsageShare, ...] = ()
    tree: tuple[usage_tree.UsageNode, ...] = ()
    recounted: bool = False
    faults: tuple[str, ...] = ()
    pool: str = ""
    shared: tuple[str, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True


def quota_reports(
    store: Store, quotas: Sequence[ResourceQuota], options: EvaluationOptions, *, recounted: bool = False, by: str = ""
) -> Iterator[QuotaReport]:
    """Yield one report for each quota; all are of one namespace, whose objects are counted once.

    Raises UsageError where a quota, or an object to count, has a value that is no quantity.
    """
    if not quotas:
        return
    namespace = quotas[0].metadata.namespace
    try:
        objects = usage_tree.objects_of(store, quotas, namespace, options) if recounted or by else {}
    except Unparsable as fault:
        raise UsageError(f"an object of namespace {namespace} cannot be counted: {fault}") from fault
    for quota in quotas:
        try:
            yield _report(store, quota, options, objects, recounted=recounted, by=by)
        except Unparsable as fault:
            name = f"ResourceQuota/{quota.metadata.name}"
            raise UsageError(f"{name}: {fault}", hint="no API server stores such a quota") from fault


def _report(
    store: Store,
    quota: ResourceQuota,
    options: EvaluationOptions,
    objects: usage_tree.CountedObjects,
    *,
    recounted: bool,
    by: str,
) -> QuotaReport:
    meta = quota.metadata
    hard = parse_list(quota.spec.hard, "spec.hard")
    faults = tuple(dict.fromkeys(map(str, quota_object.validate(quota.spec, hard))))
    as_if = quota if faults else with_assumed_status(quota, store)
    is_assumed, quota = as_if is not quota, as_if
    reads = usage_tree.counting_needs([quota], options.server, meta.namespace) if objects else ()
    if by == VALUE:
        reads = (*reads, ReadRequest("LimitRange", meta.namespace))
    failed_reads = tuple(find_unread(store, reads))
    whole = usage_tree.read_whole(store, objects, meta.namespace)
    optional = frozenset(optional_names({**hard, **(quota.status.hard or {})}, store.all("LimitRange", meta.namespace)))
    uses = tuple(
        structs.replace(use, optional=True) if use.name in optional else use for use in _list_uses(quota, hard)
    )
    return QuotaReport(
        ObjectRef("ResourceQuota", meta.name, meta.namespace),
        _recount_uses(uses, quota, whole, options, extended_resources(store), texts=not is_assumed)
        if recounted
        else uses,
        scopes=scope_words(quota.spec),
        enforced=bool(quota.status.hard) or not hard or bool(faults),
        supposed=is_assumed,
        grouped_by=by,
        shares=_shares(store, quota, hard, objects, by) if by else (),
        tree=usage_tree.with_shares(_tree(store, quota, hard, objects, options)) if by == VALUE else (),
        recounted=recounted,
        faults=faults,
        pool=ownership_of(quota.metadata).pool,
        unread=failed_reads,
        complete=not failed_reads,
    )


def _list_uses(quota: ResourceQuota, wanted_amounts: Quantities) -> tuple[QuotaUse, ...]:
    """Return the uses by the names of status and spec; the status is what is enforced."""
    status = quota.status
    hard, used = parse_list(status.hard, "status.hard"), parse_list(status.used, "status.used")
    return tuple(
        structs.replace(
            _build_use(name, hard.get(name), used.get(name) if name in hard else None, wanted_amounts.get(name)),
            limits_nothing=uncounted_name(name, used) or "",
        )
        for name in sorted({*hard, *wanted_amounts})
    )


def _percent(used: Quantity, hard: Quantity) -> int | None:
    """Return the percentage; the highest one where something is used of a hard of zero, so that it sorts first."""
    number = percent_of(used, hard)
    return _OF_NOTHING if number is None and used.nano > 0 else number


def _build_use(name: str, hard: Quantity | None, used: Quantity | None, wanted_amounts: Quantity | None) -> QuotaUse:
    bound = hard if hard is not None else wanted_amounts or ZERO
    other = None if hard is None or hard == wanted_amounts else "" if wanted_amounts is None else str(wanted_amounts)
    if used is None:
        return QuotaUse(name, str(bound), spec_hard=other)
    return QuotaUse(name, str(bound), str(used), str(bound - used), _percent(used, bound), other)


def _recount_uses(
    uses: Sequence[QuotaUse],
    quota: ResourceQuota,
    objects: usage_tree.CountedObjects,
    options: EvaluationOptions,
    extended: Mapping[str, str],
    *,
    texts: bool,
) -> tuple[QuotaUse, ...]:
    """Return the uses with recounted amounts. ``texts``: the status is the server's, so that another count is a
    drift.
    """
    requests = {
        resource: None if pairs is None else [counted.request for counted in pairs]
        for resource, pairs in objects.items()
    }
    quantities = recount(quota, requests, options.server, extended=extended)
    missing = usage_tree.unreadable(quota, objects, options.server, extended)
    pods = [pod.item for pod in objects.get("pods") or () if isinstance(pod.item, Pod)]
    now = datetime.fromisoformat(options.now) if options.now else None
    drifts = (
        {drift.name: drift for drift in find_drifts(quota, quantities, missing, pods, options.server, now)}
        if texts
        else {}
    )
    return tuple(
        structs.replace(
            use,
            counted=str(quantities[use.name]) if use.name in quantities else None,
            drift=None if use.name in missing else drifts.get(use.name),
            unread=missing.get(use.name, ""),
        )
        for use in uses
    )


def used_by(store: Store, quota: ResourceQuota, options: EvaluationOptions) -> tuple[usage_tree.UsageNode, ...]:
    """Return who uses what one quota counts, down to values; the caller adds shares.

    Raises UsageError as ``quota_reports`` does.
    """
    space = quota.metadata.namespace
    try:
        objects = usage_tree.objects_of(store, [quota], space, options)
        return _tree(store, quota, parse_list(quota.spec.hard, "spec.hard"), objects, options)
    except Unparsable as fault:
        raise UsageError(
            f"what counts for quota {quota.metadata.name} of {space} cannot be counted: {fault}"
        ) from fault


def _tree(
    store: Store, quota: ResourceQuota, hard: Quantities, objects: usage_tree.CountedObjects, options: EvaluationOptions
) -> tuple[usage_tree.UsageNode, ...]:
    scopes = requirements(quota.spec)
    result = (counted for counted in usage_tree.flatten_objects(objects) if all(map(counted.request.in_scope, scopes)))
    return usage_tree.workload_nodes(store, quota, result, hard, options)


def _shares(
    store: Store, quota: ResourceQuota, hard: Quantities, objects: usage_tree.CountedObjects, by: str
) -> tuple[UsageShare, ...]:
    """Return who uses what a quota counts, the largest share of any name first; objects that use nothing are
    left out.
    """
    scopes = requirements(quota.spec)
    sums: dict[str, Quantities] = {}
    pods: dict[str, int] = {}
    for item, request in usage_tree.flatten_objects(objects):
        usage = {name: value for name, value in request.usage.items() if value.nano and name in hard}
        if not usage or not all(map(request.in_scope, scopes)):
            continue
        owner = usage_tree.owner_of(item, "workload" if by == VALUE else by, store)
        add_into(sums.setdefault(owner, {}), usage)
        pods[owner] = pods.get(owner, 0) + isinstance(item, Pod)
    totals: Quantities = {}
    for quantities in sums.values():
        add_into(totals, quantities)

    def share(owner: str) -> UsageShare:
        values = {name: sums[owner][name] for name in sorted(sums[owner])}
        percents = {name: value.nano * 100 // totals[name].nano for name, value in values.items()}
        return UsageShare(owner, pods[owner], {name: str(value) for name, value in values.items()}, percents)

    ranked = sorted(map(share, sums), key=lambda usage_share: (-max(usage_share.percents.values()), usage_share.name))
    return tuple(ranked)


def shared_needs(store: Store, namespace: str, quotas: Iterable[ResourceQuota]) -> tuple[ReadRequest, ...]:
    """Return the reads of quotas of other kinds, where those of a namespace (empty: of any) suggest that there are
    some.
    """
    return tuple(reads_for(store, AboutSharedQuotas(namespace, tuple(quotas))))


def shared_reports(store: Store, namespace: str) -> Iterator[QuotaReport]:
    """Yield the reports of those quotas that bear on a namespace; empty: on any."""
    for keeper in quota_keepers():
        yield from cast("Iterator[QuotaReport]", keeper.shared_reports(store, namespace))


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
    bounds = (item.max, item.default) if limits else (item.min, item.max, item.default, item.default_request)
    return item.type in {"Container", "Pod"} and any(_RESOURCE in (values or {}) for values in bounds)
