"""The list of namespaces: pods by class, their requests, and the quota that is nearest to its limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from kubectl_kres.errors import KresError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.overview import shortest_name
from kubectl_kres.render.quota.policy import policy_lines
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.reports.namespace.explain_policy import explain_policy
from kubectl_kres.reports.qos.qos_reach import CLASSES
from kubectl_kres.reports.qos.qos_sums import NamespaceSums
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists import quotas
from kubectl_kres.tui.lists.list_spec import WORST_FIRST, Listing, ListRows, RowSource, RowSubject
from kubectl_kres.tui.lists.quotas import QuotaEntry, quota_row
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.system import NamespaceServices, systems
from kubectl_kres.tui.table.columns import Column, amount


class SpaceRow(Struct, frozen=True):
    """A namespace. ``sums`` absent: its pods have not been added up yet. ``quota``: the one with the least left.

    ``partial``: pods are still being read. ``pools``: those that serve it; ``waiting``: claims in it that do not have
    what they ask for.
    """

    name: str
    sums: NamespaceSums | None = None
    quota: QuotaEntry | None = None
    partial: bool = False
    phase: str = ""
    pools: tuple[str, ...] = ()
    waiting: int = 0


def names(session: Session) -> list[str]:
    """Return the namespaces that are known of: those read, and those of the objects that were read."""
    names = {namespace.metadata.name for namespace in session.store.all("Namespace")}
    for kind in ("ResourceQuota", "LimitRange"):
        names |= {item.metadata.namespace for item in session.store.all(kind)}
    return sorted(names | session.adder.done.keys())


def _rows(session: Session, namespace: str) -> ListRows:
    partial = any(session.unread_requests((ReadRequest("Pod", session.namespace), ReadRequest("Pod"))))
    beside = _of_systems(session)
    for name in names(session):
        if namespace and name != namespace:
            continue
        rows = [quota_row(session, quota) for quota in session.store.all("ResourceQuota", name)]
        tight = max(rows, key=lambda row: -1 if (rank := quotas.rank(row)) is None else rank, default=None)
        result = session.store.get("Namespace", name)
        phase = result.status.phase if result is not None else ""
        served = tuple(beside.served_by.get(name, ()))
        yield (
            (name,),
            SpaceRow(name, session.adder.done.get(name), tight, partial, phase, served, beside.waiting.get(name, 0)),
        )


def _of_systems(session: Session) -> NamespaceServices:
    """Return what all systems say of the namespaces."""
    served: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for of_namespaces in (counts for system in systems() if (counts := system.of_namespaces(session)) is not None):
        for space, names_ in of_namespaces.served_by.items():
            served.setdefault(space, []).extend(names_)
        for space, count in of_namespaces.waiting.items():
            waiting[space] = waiting.get(space, 0) + count
    return NamespaceServices(served, waiting)


def _pods(row: SpaceRow) -> str:
    if row.sums is None:
        return "..." if row.partial else "0"
    return f"{row.sums.pods}{'+' if row.partial else ''}"


def _classes(row: SpaceRow) -> str:
    """Return how many pods are Guaranteed, Burstable and BestEffort."""
    if row.sums is None:
        return "-"
    return "/".join(str(row.sums.classes.get(name, 0)) for name in CLASSES)


def _count_guaranteed_pods(row: SpaceRow) -> int:
    return row.sums.classes.get("Guaranteed", 0) if row.sums is not None else 0


def _amount_column(side: str, resource: str, head: str) -> Column:
    text = _amount(side, resource)
    return Column(
        f"{side}.{resource}",
        head,
        text,
        amount(text),
        right=True,
        most=20,
        wide=side == "limits",
        searched=False,
        down=True,
    )


def _amount(side: str, resource: str) -> Callable[[SpaceRow], str]:
    def text(row: SpaceRow) -> str:
        if row.sums is None:
            return "-"
        values = row.sums.requests if side == "requests" else row.sums.limits
        return values.get(resource, "-")

    return text


def _format_tightest_quota(row: SpaceRow) -> str:
    return _format_use(row, "{quota} {name}", str)


def _format_tightest_briefly(row: SpaceRow) -> Sequence[str]:
    return [_format_use(row, template, shortest_name) for template in ("{quota} {name}", "{name}")]


def _format_use(row: SpaceRow, template: str, call: Callable[[str], str]) -> str:
    """Return how much of the tightest quota is used, of which one, and of which of its names; ``-``: it has none."""
    if row.quota is None or row.quota.tight is None:
        return "-"
    used = quotas.percent_text(row.quota)
    what = template.format(quota=row.quota.ref.name, name=call(row.quota.tight.name))
    return f"{f'{used:>4} ' if used != '-' else ''}{what}"


def _least_left(row: SpaceRow) -> int:
    """Return the sort key: namespaces whose quota has least left come first, those without one last."""
    return -(quotas.rank(row.quota) or 0) if row.quota else 1


def row_sign(row: SpaceRow) -> tuple[str, Tone]:
    return quotas.row_sign(row.quota) if row.quota is not None else ("", "")


def _columns(_namespace: str) -> tuple[Column, ...]:
    return (
        Column("name", "NAMESPACE", lambda row: row.name),
        Column(
            "state", "TIGHTEST QUOTA", _format_tightest_quota, _least_left,
            tone=lambda row: row_sign(row)[1], most=44, briefer=_format_tightest_briefly,
            leads=True,
        ),
        Column("pods", "PODS", _pods, lambda row: row.sums.pods if row.sums else 0, right=True, most=7, down=True),
        Column("qos", "G/B/E", _classes, _count_guaranteed_pods, right=True, most=14, wide=True, searched=False,
               down=True),
        _amount_column("requests", "cpu", "CPU REQ"),
        _amount_column("limits", "cpu", "CPU LIM"),
        _amount_column("requests", "memory", "MEM REQ"),
        _amount_column("limits", "memory", "MEM LIM"),
        Column("waiting", "WAIT", lambda row: str(row.waiting or "-"), lambda row: row.waiting, right=True, wide=True,
               tone=lambda row: "warn" if row.waiting else "", down=True),
        Column("pools", "POOLS", lambda row: ", ".join(row.pools) or "-", wide=True, most=30),
        Column("phase", "PHASE", lambda row: row.phase, wide=True),
    )  # fmt: skip


def _list_read_requests(namespace: str) -> tuple[ReadRequest, ...]:
    return (
        ReadRequest("Namespace", name=namespace, required=False),
        ReadRequest("ResourceQuota", namespace),
        ReadRequest("LimitRange", namespace),
        ReadRequest("Pod", namespace),
        *(read for system in systems() if system.namespace_kinds for read in system.namespace_needs(namespace)),
    )


def _detail(session: Session, row: SpaceRow, width: int) -> Iterator[Line]:
    if row.waiting:
        whose = "claim without what it asks" if row.waiting == 1 else "claims without what they ask"
        text = f"{row.waiting} {whose} for (:claims {row.name})"
        yield from tone_lines("warn", wrap_text(text, width, rest="  "))
    if row.pools:
        yield from tone_lines(
            "", wrap_text(f"served by pool{'s' * (len(row.pools) > 1)} {', '.join(row.pools)}", width, rest="  ")
        )
    try:
        policy_explanation = explain_policy(session.store, session.subject(_ref(row)), session.evaluation_options)
    except KresError as error:
        yield [("bad", error.message)]
        return
    yield from policy_lines(
        policy_explanation, ascii_only=session.setting.ascii_only, width=width, now=session.setting.now()
    )


def _ref(row: SpaceRow) -> ObjectRef:
    return ObjectRef("Namespace", row.name)


LISTING = Listing(
    names=("namespaces", "namespace", "ns"),
    about="pods by QoS class, what they request, the quota nearest to its limit",
    source=RowSource(
        kinds=(
            "Namespace",
            "ResourceQuota",
            "LimitRange",
            "Pod",
            *(kind for system in systems() for kind in system.namespace_kinds),
        ),
        reads=_list_read_requests,
        rows=_rows,
    ),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(ref=_ref, opens=lambda row: Location("pods", namespace=row.name)),
    command=lambda session, _namespace: session.command("qos --summary", ""),
    order=WORST_FIRST,
    hints=("users", "timeline", "sort-cpu", "sort-memory", "explain"),
    scoped=False,
    sums=True,
)
