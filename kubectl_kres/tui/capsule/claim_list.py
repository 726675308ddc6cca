"""Claims on resource pools: the state of each, what it is short of, since when it waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubectl_kres.model.capsule import ResourcePoolClaim
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.render.capsule.claim import amounts_table, remedy_lines, state_lines, status_lines
from kubectl_kres.render.capsule.claims import TONES
from kubectl_kres.render.capsule.system import NO_CAPSULE
from kubectl_kres.render.overview.lines import SIGNS
from kubectl_kres.render.text.line import Line, Tone, toned, wrapped
from kubectl_kres.render.text.times import since
from kubectl_kres.reports.capsule.claim.claim_detail import claim_detail
from kubectl_kres.reports.capsule.claim.claim_report import ClaimReport
from kubectl_kres.reports.capsule.claim.claims import Claims
from kubectl_kres.reports.capsule.common.claim_state import WAITING
from kubectl_kres.reports.capsule.common.needs import claims_needs
from kubectl_kres.reports.capsule.overview import CLAIM_STATES, FEW, claim_severity
from kubectl_kres.reports.capsule.overview import since as waits_since
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.capsule.scene import scene_of
from kubectl_kres.tui.lists.list_spec import Listing, ListRows
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column


class ClaimEntry:
    """A claim, with what would unblock it once that is looked at."""

    __slots__ = ("_session", "_whole", "claim", "report")

    def __init__(self, session: Session, claim: ResourcePoolClaim, report: ClaimReport) -> None:
        self.claim, self.report, self._session = claim, report, session
        self._whole: ClaimReport | None = None

    @property
    def whole(self) -> ClaimReport | None:
        """The claim in full; None where its pool has so many claims that this takes its time."""
        scene = scene_of(self._session)
        if self._whole is None and len(scene.of_pool(self.report.pool)) <= FEW:
            self._whole = claim_detail(Claims(scene), self.claim)
        return self._whole

    @property
    def waits(self) -> str:
        """For how long it has been without what it asks for."""
        if not self.report.waits:
            return ""
        return since(waits_since(self.claim, self.report), self._session.setting.now())


def claim_rows(session: Session, namespace: str) -> Iterator[ClaimEntry]:
    """The claims of a namespace, of all if it is empty."""
    making = Claims(scene_of(session))
    for claim in session.store.all("ResourcePoolClaim", namespace or None):
        yield ClaimEntry(session, claim, making.report(claim))


def sign(row: ClaimEntry) -> tuple[str, Tone]:
    """``x``: it does not get what it asks for; ``!``: it waits behind another, or holds nothing."""
    return SIGNS[claim_severity(row.report)]


def short(report: ClaimReport) -> str:
    """What is missing, in a few words."""
    if report.lacks:
        return brief_words(report.lacks)
    if report.state == "queued":
        names = [_brief(amount.name) for amount in report.amounts if amount.behind is not None]
        ahead = f"behind {report.place.place - 1}" if report.place is not None else "behind others"
        return f"{ahead}: {', '.join(names)}" if names else ahead
    return report.because if report.waits or report.state == "released" else ""


def brief_words(amounts: Mapping[str, str]) -> str:
    """``cpu 4, memory 2Gi``."""
    return ", ".join(f"{_brief(name)} {value}" for name, value in amounts.items())


def _brief(name: str) -> str:
    """``cpu`` for requests, which are the rule; limits are named."""
    return name.removeprefix("requests.")


def _place(report: ClaimReport) -> str:
    if report.state not in WAITING:
        return ""
    return f"{report.place.place} of {report.place.of}" if report.place is not None else "not visible"


def _columns(namespace: str) -> tuple[Column, ...]:
    where = Column("namespace", "NAMESPACE", lambda row: row.report.subject.namespace)
    return (
        *(() if namespace else (where,)),
        Column("name", "NAME", lambda row: row.report.subject.name, most=48),
        Column("pool", "POOL", lambda row: row.report.pool or row.report.wanted_pool or "-", most=30),
        Column("state", "STATE", lambda row: row.report.state, _state_rank, _tone, width=10),
        Column("short", "SHORT BY", lambda row: short(row.report), tone=lambda row: sign(row)[1], most=44),
        Column("place", "PLACE", lambda row: _place(row.report), _place_rank, wide=True, most=11),
        Column("waits", "WAITS", lambda row: row.waits, _waits_rank, right=True, width=5, searched=False),
        Column("asks", "ASKS FOR", lambda row: brief_words(row.report.asks), wide=True),
    )  # fmt: skip


def _tone(row: ClaimEntry) -> Tone:
    return TONES[row.report.state]


def _place_rank(row: ClaimEntry) -> int | None:
    return row.report.place.place if row.report.place is not None else None


def _state_rank(row: ClaimEntry) -> int:
    return list(CLAIM_STATES).index(row.report.state)


def _waits_rank(row: ClaimEntry) -> str | None:
    return waits_since(row.claim, row.report) if row.report.waits else None


def _rows(session: Session, namespace: str) -> ListRows:
    for row in claim_rows(session, namespace):
        yield (row.report.subject.namespace, row.report.subject.name), row


def _detail(session: Session, row: ClaimEntry, width: int) -> Iterator[Line]:
    del session
    report = row.whole or row.report
    yield from state_lines(report, width)
    if lacks := short(report):
        yield from toned("", wrapped(f"short by {lacks}" if report.lacks else lacks, width, first="  ", rest="    "))
    if report.waits and row.whole is None:
        yield [("quiet", "enter: what would unblock it")]
    else:
        yield from remedy_lines(report, width)
    yield from amounts_table(report.amounts, width)
    yield from status_lines(report, width)
    for note in report.notes:
        yield from toned("warn", wrapped(note, width, rest="  "))


def needs(namespace: str) -> tuple[Need, ...]:
    return Need("ResourcePoolClaim", namespace), Need("ResourcePool", required=False)


def also(session: Session, namespace: str) -> Iterable[Need]:
    """Who else waits for the pools."""
    return claims_needs(session.store, (namespace,) if namespace else ())


LISTING = Listing(
    names=("claims", "claim", "resourcepoolclaims", "resourcepoolclaim"),
    about="claims on Capsule's resource pools: which have what they ask for, why the others wait",
    kinds=("ResourcePoolClaim", "ResourcePool"),
    needs=needs,
    also=also,
    absent=NO_CAPSULE,
    columns=_columns,
    rows=_rows,
    sign=sign,
    detail=_detail,
    opens=lambda row: Location("object", ref=row.report.subject),
    ref=lambda row: row.report.subject,
    owner=lambda row: pool_place(row.report.pool or row.report.wanted_pool),
    command=lambda session, namespace: session.command("claims", namespace),
    labels=lambda row: row.claim.metadata.labels or {},
    hints=("owner", "sort-state", "faults"),
)


def pool_place(name: str) -> Location | None:
    """The screen of a pool; None without one."""
    return Location("object", ref=ObjectRef("ResourcePool", name)) if name else None
