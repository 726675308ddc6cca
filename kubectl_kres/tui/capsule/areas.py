"""What is noticed of claims and pools on the first screen, the worst first."""

from __future__ import annotations

from kubectl_kres.tui.capsule import claim_list, pool_list
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.problem import MOST, Area, Notice, worst
from kubectl_kres.tui.session import Session


def claim_area(session: Session) -> Area:
    rows = list(claim_list.claim_rows(session, session.namespace))
    bad = [row for row in rows if claim_list.sign(row)[0]]
    bad.sort(key=lambda row: (claim_list.sign(row)[0] != "x", claim_list.ORDER.index(row.report.state)))
    found = [_claim(row) for row in bad]
    return Area(worst(found), len(rows), claim_list.said(rows) if rows else "none", tuple(found[:MOST]))


def _claim(row: claim_list.ClaimRow) -> Notice:
    ref, waits = row.report.subject, f"  for {row.waits}" if row.waits else ""
    said = f"{row.report.state}  {claim_list.short(row.report)}{waits}"
    return Notice(claim_list.sign(row), f"claim/{ref.name}", ref.namespace, said, Location("object", ref=ref))


def pool_area(session: Session) -> Area:
    rows = [pool_list.pool_row(session, pool) for pool in session.store.all("ResourcePool")]
    counts: dict[str, int] = {}
    for row in rows:
        counts[pool_list.state(row)] = counts.get(pool_list.state(row), 0) + 1
    order = ("over-claimed", "failing", "exhausted", "near", "ok")
    said = "  ".join(f"{counts[word]} {word}" for word in order if word in counts)
    bad = sorted((row for row in rows if pool_list.sign(row)[0]), key=lambda row: pool_list.sign(row)[0] != "x")
    found = [
        Notice(pool_list.sign(row), f"pool/{row.report.subject.name}", "", _pool(row), pool_list.place_of(row))
        for row in bad
    ]
    return Area(worst(found), len(rows), said or "none", tuple(found[:MOST]))


def _pool(row: pool_list.PoolRow) -> str:
    use = row.tight
    waits = f"  {row.waiting} wait" if row.waiting else ""
    if use is None:
        return f"{pool_list.state(row)}{waits}"
    percent = f"  {use.percent}%" if use.percent is not None else ""
    return f"{pool_list.state(row)}{waits}  {use.name}  {use.claimed} of {use.hard} claimed{percent}"
