"""The claim that a workload needs, as text and as a manifest to apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import structs

from kubectl_kres.capsule.reports.claim.sizing import SizedPool, Sizing
from kubectl_kres.capsule.text.claims import amounts_words
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import Line, Tone, clip_text, draw, pad_text, size, tone_lines, wrap_text
from kubectl_kres.render.text.remarks import remarks
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.brief import Brief
from kubectl_kres.render.verdict.headline import PARTLY, existing_text
from kubectl_kres.reports.common.explanation import ManifestPlace
from kubectl_kres.wording import join_some

_LABEL, _CELL = 32, 20
_NOTHING = "nothing to claim"
_UNSERVED = "no pool that could be seen serves its namespace, and no managed quota is in it"
_HEADS = ("A POD", "ALL", "PEAK", "HARD", "USED", "CLAIM", "POOL FREE")


def lines(sizing: Sizing, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Yield every line of the answer."""
    for line in _sizing_lines(sizing, width):
        yield draw(line, color=color)


def brief(sizing: Sizing, more: str, ahead: Callable[[ObjectRef], str]) -> Brief:
    """In few words, of the pool that is in the way. ``more``: the command that prints the claim; ``ahead``: the one
    that says why a claim waits.
    """
    claiming = sorted((pool for pool in sizing.pools if pool.claim), key=lambda pool: pool.fits)
    pool = claiming[0] if claiming else None
    if pool is None:
        room = "the quotas of its pools have room for all its pods" if sizing.pools else _UNSERVED
        word = _NOTHING if sizing.complete else f"{_NOTHING}{PARTLY}"
        return Brief("good" if sizing.complete else "warn", word, f": {sizing.subject.full_name}: {room}", next=more)
    claim = f"{amounts_words(pool.claim)} of pool {pool.pool}"
    reason = "; ".join(filter(None, (claim, _format_pool_shortage(pool), _format_queue_ahead(pool))))
    brief = Brief(
        "warn" if pool.fits else "bad",
        "to claim" if pool.fits else "would wait",
        f": {sizing.subject.full_name}: {reason}",
        next=ahead(pool.closed_by[0]) if pool.closed_by else more,
    )
    if pool.grow is not None:
        grown = f"raise claim {pool.grow.subject.name} (unused) to {amounts_words(pool.grow.amounts)}"
        return structs.replace(brief, remedy=grown, run=pool.grow.command)
    return structs.replace(brief, remedy="apply the claim that the next command prints" if pool.fits else "")


def _format_pool_shortage(pool: SizedPool) -> str:
    """Return what the pool has not left; empty: nothing."""
    lacks = {amount.name: amount.short_by for amount in pool.amounts if amount.short_by is not None}
    words = ", ".join(f"{resource} {amount}" for resource, amount in lacks.items())
    return f"the pool is short by {words}" if lacks else ""


def _format_queue_ahead(pool: SizedPool) -> str:
    """Return who comes first in its queue; empty: nobody."""
    if not pool.closed_resources:
        return ""
    names = [object_ref.key for object_ref in pool.closed_by]
    waits = f"{join_some(names, 3)} wait{'s' * (len(names) == 1)}" if names else "earlier claims in the queue wait"
    return f"in its ordered queue {waits} for {join_some(pool.closed_resources)}"


def _sizing_lines(sizing: Sizing, width: int) -> Iterator[Line]:
    ref = sizing.subject
    replicas = sizing.replicas
    parts = [f"{ref.full_name}, from {sentence_text(sizing.start)}"]
    if replicas is not None:
        parts.append(existing_text(replicas))
        if replicas.surge:
            parts.append(f"{replicas.surge} more during a rolling update")
    elif ref.kind == "Pod" and sizing.start == ManifestPlace("live"):
        parts.append("it is counted already: this is for one more like it")
    yield from tone_lines("strong", wrap_text("; ".join(parts), width, rest="  "))
    if not sizing.pools:
        yield from tone_lines("warn", wrap_text(f"{_UNSERVED}: nothing has to be claimed", width, rest="  "))
    for pool in sizing.pools:
        yield from _pool(pool, ref.namespace, ref.name, width)
    doubts = (sizing.doubt,) if sizing.doubt else ()
    yield from remarks((("warn", "warning", doubts),), (), sizing.unread, width)


def _pool(pool: SizedPool, space: str, name: str, width: int) -> Iterator[Line]:
    yield [("", "")]
    if not pool.counts:
        yield from tone_lines("quiet", wrap_text(f"pool {pool.pool}: its scopes leave such pods out", width, rest="  "))
        return
    if not pool.amounts:
        yield from tone_lines("quiet", wrap_text(f"pool {pool.pool} limits nothing of it", width, rest="  "))
        return
    seen = "" if pool.known else ", of which only the quota could be seen"
    yield [("strong", f"pool {pool.pool}"), ("", seen)]
    yield from _table(pool)
    if not pool.claim:
        yield [("good", "  nothing more has to be claimed")]
        return
    follows = {
        _format_pool_shortage(pool): "such a claim would wait",
        _format_queue_ahead(pool): "such a claim would wait behind, room or not",
    }
    for text, consequence in follows.items():
        if text:
            yield from tone_lines("bad", wrap_text(f"{text}: {consequence}", width, first="  ", rest="    "))
    if pool.grow is not None:
        amounts = amounts_words(pool.grow.amounts)
        text = f"claim {pool.grow.subject.name} is unused: if it asks for {amounts} instead, it gets that at once"
        yield from tone_lines("", wrap_text(text, width, first="  ", rest="    "))
        # Something to type is not broken.
        yield [("strong", f"    {pool.grow.command}")]
    yield [("", "  or a claim of its own:" if pool.grow is not None else "  claim:")]
    yield from _manifest(pool, space, name)


def _table(pool: SizedPool) -> Iterator[Line]:
    rows = [
        [
            clip_text(cell or "-", _CELL)
            for cell in (
                amount.per_pod,
                amount.total,
                amount.peak,
                amount.hard,
                amount.used,
                amount.to_claim,
                amount.free,
            )
        ]
        for amount in pool.amounts
    ]
    widths = [max(size(head), *(size(row[index]) for row in rows)) for index, head in enumerate(_HEADS)]
    label = min(_LABEL, max(8, *(size(amount.name) for amount in pool.amounts)))
    yield [("quiet", f"  {pad_text('RESOURCE', label)}  {'  '.join(map(pad_text, _HEADS, widths))}".rstrip())]
    for amount, row in zip(pool.amounts, rows, strict=True):
        name = pad_text(clip_text(amount.name, label), label)
        tone: Tone = "bad" if amount.short_by is not None else ""
        yield [("", f"  {name}  "), (tone, "  ".join(map(pad_text, row, widths)).rstrip())]


def _manifest(pool: SizedPool, space: str, name: str) -> Iterator[Line]:
    """Yield a claim that kubectl apply takes."""
    yield from tone_lines(
        "",
        (
            "    apiVersion: capsule.clastix.io/v1beta2",
            "    kind: ResourcePoolClaim",
            # A dot in it would stop the pool's status from being written.
            f"    metadata: {{name: {name.replace('.', '-')[:63].rstrip('-')}, namespace: {space}}}",
            "    spec:",
            f"      pool: {pool.pool}",
            "      claim:",
            *(f'        {resource}: "{amount}"' for resource, amount in pool.claim.items()),
        ),
    )
