"""Claims, pools and runs on the first screen: a line for each area, and what is wrong in it, the worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from kubectl_kres.model.tekton import TaskRun
from kubectl_kres.render.line import Tone
from kubectl_kres.store.coverage import Need
from kubectl_kres.tui.lists import claims, pools, taskruns
from kubectl_kres.tui.lists.pods import since
from kubectl_kres.tui.place import Place
from kubectl_kres.tui.session import Session

#: Findings of an area that are listed; its list has all of them.
_MOST = 20


class Notice(Struct, frozen=True):
    """A line: an area with its counts, or one thing that is wrong. ``place``: where Enter goes."""

    sign: tuple[str, Tone]
    what: str
    where: str
    said: str
    place: Place


class Area(Struct, frozen=True):
    """An area's own line without its number, and what is wrong in it."""

    sign: tuple[str, Tone]
    count: int
    said: str
    findings: tuple[Notice, ...] = ()


class Areas:
    """Makes an area anew only where what it is made from has changed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._held: dict[str, tuple[tuple[object, ...], Area]] = {}

    def needs(self) -> tuple[Need, ...]:
        """What the areas are made from; a cluster may have none of it."""
        space = self._session.namespace
        return (
            Need("ResourcePoolClaim", space, required=False),
            Need("ResourcePool", required=False),
            Need("TaskRun", space, required=False),
        )

    def lines(self, number: Callable[[str, int], str]) -> Iterable[Notice]:
        """A line for each area; ``number`` says how many there are of a kind, as far as is known."""
        space = self._session.namespace
        yield self._line("claims", "ResourcePoolClaim", number, Place("claims", space), claims.NO_CAPSULE)
        yield self._line("pools", "ResourcePool", number, Place("pools"), claims.NO_CAPSULE)
        yield self._line("taskruns", "TaskRun", number, Place("taskruns", space), taskruns.NO_TEKTON)

    def findings(self) -> Iterable[Notice]:
        """What is wrong, area by area."""
        for name in _MAKING:
            yield from self._area(name).findings

    def _line(self, name: str, kind: str, number: Callable[[str, int], str], place: Place, absent: str) -> Notice:
        need = next(one for one in self.needs() if one.kind == kind)
        coverage = self._session.store.covered(need)
        if coverage.state == "absent":
            return Notice(("", ""), name, "-", absent, place)
        area = self._area(name)
        known = coverage.known or area.count or any(self._session.loading((need,)))
        unknown = coverage.message if coverage.state in {"denied", "failed"} else "not held here"
        said = area.said if known else unknown
        return Notice(area.sign, name, number(kind, area.count) if known else "?", said, place)

    def _area(self, name: str) -> Area:
        kinds, make = _MAKING[name]
        stamp = (self._session.namespace, *self._session.store.revision(*kinds))
        held = self._held.get(name)
        if held is None or held[0] != stamp:
            held = self._held[name] = (stamp, make(self._session))
        return held[1]


def _worst(findings: Sequence[Notice]) -> tuple[str, Tone]:
    signs = {one.sign for one in findings}
    return ("x", "bad") if ("x", "bad") in signs else ("!", "warn") if signs else ("", "")


def _claims(session: Session) -> Area:
    rows = list(claims.claim_rows(session, session.namespace))
    bad = [row for row in rows if claims.sign(row)[0]]
    bad.sort(key=lambda row: (claims.sign(row)[0] != "x", claims.ORDER.index(row.report.state)))
    found = [_claim(row) for row in bad]
    return Area(_worst(found), len(rows), claims.said(rows) if rows else "none", tuple(found[:_MOST]))


def _claim(row: claims.ClaimRow) -> Notice:
    ref, waits = row.report.subject, f"  for {row.waits}" if row.waits else ""
    said = f"{row.report.state}  {claims.short(row.report)}{waits}"
    return Notice(claims.sign(row), f"claim/{ref.name}", ref.namespace, said, Place("object", ref=ref))


def _pools(session: Session) -> Area:
    rows = [pools.pool_row(session, pool) for pool in session.store.all("ResourcePool")]
    counts: dict[str, int] = {}
    for row in rows:
        counts[pools.state(row)] = counts.get(pools.state(row), 0) + 1
    order = ("over-claimed", "failing", "exhausted", "near", "ok")
    said = "  ".join(f"{counts[word]} {word}" for word in order if word in counts)
    bad = sorted((row for row in rows if pools.sign(row)[0]), key=lambda row: pools.sign(row)[0] != "x")
    found = [
        Notice(pools.sign(row), f"pool/{row.report.subject.name}", "", _pool(row), pools.place_of(row)) for row in bad
    ]
    return Area(_worst(found), len(rows), said or "none", tuple(found[:_MOST]))


def _pool(row: pools.PoolRow) -> str:
    use = row.tight
    waits = f"  {row.waiting} wait" if row.waiting else ""
    if use is None:
        return f"{pools.state(row)}{waits}"
    percent = f"{use.percent}%  " if use.percent is not None else ""
    return f"{use.name}  {use.claimed} of {use.hard} claimed  {percent}{pools.state(row)}{waits}"


def _runs(session: Session) -> Area:
    """By what their conditions say: nothing is computed here. A run that failed with a pod is not about resources."""
    held = list(session.store.all("TaskRun", session.namespace or None))
    counts: dict[str, int] = {}
    for run in held:
        word = taskruns.fares(run)
        counts[word] = counts.get(word, 0) + 1
    order = ("failed", "waiting", "cancelled", "new", "pending", "running", "succeeded")
    said = "  ".join(f"{counts[word]} {word}" for word in order if word in counts)
    podless = [run for run in held if taskruns.fares(run) == "failed" and not run.status.pod_name]
    podless.sort(key=lambda run: run.metadata.creation_timestamp or "", reverse=True)
    waiting = [run for run in held if taskruns.fares(run) == "waiting"]
    found = [
        *(_run(run, ("x", "bad"), session) for run in podless[:_MOST]),
        *(_run(run, ("!", "warn"), session) for run in waiting[:_MOST]),
    ]
    return Area(_worst(found), len(held), said or "none", tuple(found))


def _run(run: TaskRun, sign: tuple[str, Tone], session: Session) -> Notice:
    condition = taskruns.condition_of(run)
    reason = condition.reason if condition is not None else ""
    age = since((condition.last_transition_time if condition is not None else "") or "", session.setting.now())
    said = f"{taskruns.fares(run)}  {reason}{f'  for {age}' if age and sign[0] == '!' else ''}"
    place = Place("object", ref=taskruns.ref_of(run))
    return Notice(sign, f"taskrun/{run.metadata.name}", run.metadata.namespace, said, place)


#: The kinds that an area is made from, and how.
_MAKING: dict[str, tuple[tuple[str, ...], Callable[[Session], Area]]] = {
    "claims": (("ResourcePoolClaim", "ResourcePool"), _claims),
    "pools": (("ResourcePool", "ResourcePoolClaim", "Namespace"), _pools),
    "taskruns": (("TaskRun",), _runs),
}
