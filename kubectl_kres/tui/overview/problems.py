"""What is noticed in each area of the first screen: its counts, and what is wrong in it, the worst first."""

from __future__ import annotations

from kubectl_kres.render.text.line import Tone
from kubectl_kres.reports.namespace.effective_limits import merged
from kubectl_kres.tui.lists import limitranges, quotas
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.problem import Area, Notice
from kubectl_kres.tui.session import Session

#: Findings of an area that are listed; its list has all of them.
_MOST_QUOTAS = 50


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
