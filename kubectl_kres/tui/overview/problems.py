"""What is noticed in each area of the first screen: its counts, and what is wrong in it, the worst first."""

from __future__ import annotations

from kubectl_kres.model.tekton import TaskRun
from kubectl_kres.render.text.line import Tone
from kubectl_kres.reports.namespace.effective_limits import merged
from kubectl_kres.tui.lists import claims, limitranges, pools, quotas, taskruns
from kubectl_kres.tui.lists.pods import since
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.problem import Area, Notice, worst
from kubectl_kres.tui.session import Session

#: Findings of an area that are listed; its list has all of them.
_MOST, _MOST_QUOTAS = 20, 50


def quota_area(session: Session) -> Area:
    rows = [quotas.quota_row(session, one) for one in session.store.all("ResourceQuota", session.namespace or None)]
    counts: dict[str, int] = {}
    for row in rows:
        counts[quotas.state(row)] = counts.get(quotas.state(row), 0) + 1
    order = ("over", "full", "near", "unreadable", "no status", "empty", "ok")
    said = "  ".join(f"{counts[word]} {word}" for word in order if word in counts)
    sign: tuple[str, Tone] = ("x", "bad") if {"over", "full"} & counts.keys() else ("", "")
    if not sign[0] and "near" in counts:
        sign = ("!", "warn")
    bad = [row for row in rows if quotas.sign(row)[0]]
    bad.sort(key=lambda row: (quotas.sign(row)[0] != "x", -(quotas.rank(row) or 0), row.ref.namespace, row.ref.name))
    return Area(sign, len(rows), said or "none", tuple(map(_quota, bad[:_MOST_QUOTAS])))


def _quota(row: quotas.QuotaRow) -> Notice:
    place = Location("quota", ref=row.ref)
    return Notice(quotas.sign(row), f"quota/{row.ref.name}", row.ref.namespace, _quota_said(row), place)


def _quota_said(row: quotas.QuotaRow) -> str:
    use = row.tight
    if use is None:
        return row.fault or "no status yet, so it enforces nothing"
    percent = f"  {row.percent}%" if row.percent is not None else ""
    return f"{quotas.state(row)}  {use.name}  {use.used or '-'} of {use.hard}{percent}"


def limits_area(session: Session) -> Area:
    held = list(session.store.all("LimitRange", session.namespace or None))
    spaces = dict.fromkeys(one.metadata.namespace for one in held)
    signs = [limitranges.sign(row)[0] for space in spaces for row in merged(session.store, space)]
    odd, impossible = signs.count("!"), signs.count("x")
    said = [f"{impossible} that nothing can meet"] * bool(impossible) + [
        f"{odd} that depend on LimitRange order"
    ] * bool(odd)
    sign: tuple[str, Tone] = ("x", "bad") if impossible else ("!", "warn") if odd else ("", "")
    return Area(sign, len(held), "  ".join(said) or "sound")


def claim_area(session: Session) -> Area:
    rows = list(claims.claim_rows(session, session.namespace))
    bad = [row for row in rows if claims.sign(row)[0]]
    bad.sort(key=lambda row: (claims.sign(row)[0] != "x", claims.ORDER.index(row.report.state)))
    found = [_claim(row) for row in bad]
    return Area(worst(found), len(rows), claims.said(rows) if rows else "none", tuple(found[:_MOST]))


def _claim(row: claims.ClaimRow) -> Notice:
    ref, waits = row.report.subject, f"  for {row.waits}" if row.waits else ""
    said = f"{row.report.state}  {claims.short(row.report)}{waits}"
    return Notice(claims.sign(row), f"claim/{ref.name}", ref.namespace, said, Location("object", ref=ref))


def pool_area(session: Session) -> Area:
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
    return Area(worst(found), len(rows), said or "none", tuple(found[:_MOST]))


def _pool(row: pools.PoolRow) -> str:
    use = row.tight
    waits = f"  {row.waiting} wait" if row.waiting else ""
    if use is None:
        return f"{pools.state(row)}{waits}"
    percent = f"  {use.percent}%" if use.percent is not None else ""
    return f"{pools.state(row)}{waits}  {use.name}  {use.claimed} of {use.hard} claimed{percent}"


def run_area(session: Session) -> Area:
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
    return Area(worst(found), len(held), said or "none", tuple(found))


def _run(run: TaskRun, sign: tuple[str, Tone], session: Session) -> Notice:
    condition = taskruns.condition_of(run)
    reason = condition.reason if condition is not None else ""
    age = since((condition.last_transition_time if condition is not None else "") or "", session.setting.now())
    said = f"{taskruns.fares(run)}  {reason}{f'  for {age}' if age and sign[0] == '!' else ''}"
    place = Location("object", ref=taskruns.ref_of(run))
    return Notice(sign, f"taskrun/{run.metadata.name}", run.metadata.namespace, said, place)
