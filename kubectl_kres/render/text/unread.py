"""What could not be read, in a line for each reason: the kinds, as kubectl names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.errors import on_one_line
from kubectl_kres.model.kinds import BY_KIND, named_kind
from kubectl_kres.render.text.remarks import unseen_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import FailedRead
from kubectl_kres.reports.common.unread import UnreadKind


def unseen_texts(failed_reads: Iterable[FailedRead]) -> Iterator[str]:
    """Yield one text for all that there is no permission for, what the answer needs first, and one for each that
    failed. What stands alone is told in the server's words.
    """
    failed_reads = list(failed_reads)
    denied = [failed_read for failed_read in failed_reads if failed_read.state == "denied"]
    if len({failed_read.kind for failed_read in denied}) > 1:
        denied.sort(key=lambda failed_read: not failed_read.required)
        yield denied_text(failed_read.kind for failed_read in denied)
        failed_reads = [failed_read for failed_read in failed_reads if failed_read.state != "denied"]
    yield from map(unseen_text, failed_reads)


def denied_text(kinds: Iterable[str]) -> str:
    """Return in one line the kinds that there is no permission for."""
    return f"{', '.join(dict.fromkeys(map(_plural, kinds)))} (no permission; --all names them)"


def _plural(name: str) -> str:
    """Return what kubectl calls a kind."""
    kind = BY_KIND.get(named_kind(name))
    return kind.plural if kind is not None else name


def unread_lines(kinds: Iterable[UnreadKind]) -> Iterator[str]:
    """Yield one line for all that there is no permission for, and one for each error; what answers need comes first."""
    reasons: dict[str, list[str]] = {}
    for item in sorted(kinds, key=lambda item: not item.required):
        reason = "no permission" if item.state == "denied" else on_one_line(sentence_text(item.message)) or "not read"
        reasons.setdefault(reason, []).append(_plural(item.kind))
    for reason, names in reasons.items():
        yield f"unread  {', '.join(dict.fromkeys(names))} ({reason})"
