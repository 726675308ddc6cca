"""What comes last in an answer: warnings, assumptions, what could not be read, who edited the object last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.record import Sentence
from kubectl_kres.render.text.line import Line, Tone, ago_or_at, labelled_lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.reports.common.explanation import FailedRead, LastEdit


def remarks(
    groups: Iterable[tuple[Tone, str, Iterable[Sentence | str]]],
    assumptions: Iterable[Assumption],
    failed_reads: Iterable[FailedRead],
    width: int,
) -> Iterator[Line]:
    """Yield an empty line, then each text behind the label of its group; nothing if there is no text."""
    texts = [
        (tone, label, text)
        for tone, label, text in (
            *((tone, label, sentence_text(text)) for tone, label, group in groups for text in group),
            *(("quiet", "assumed", sentence_text(assumption.text)) for assumption in assumptions),
            *(("bad", "unread", unseen_text(failed_read)) for failed_read in failed_reads),
        )
    ]
    if texts:
        yield [("", "")]
    for tone, label, text in texts:
        yield from labelled_lines(label, text, width, tone=tone)


def unseen_text(failed_read: FailedRead) -> str:
    """Return what could not be read and where, in the server's words if it said why."""
    namespace_text = f" in {failed_read.namespace}" if failed_read.namespace else ""
    name = f" {failed_read.name}" if failed_read.name else ""
    return f"{failed_read.kind}{name}{namespace_text}: {sentence_text(failed_read.message) or failed_read.state}"


def last_edit_texts(edits: Mapping[str, LastEdit], now: str = "", maximum: int = 99) -> Iterator[str]:
    """Yield ``spec.hard[pods], spec.hard[cpu] by flux (Apply) at …``: the fields that one edit wrote, together.

    ``now`` (RFC 3339): the time is an age then. ``maximum``: fields that are named.
    """
    groups: dict[LastEdit, list[str]] = {}
    for field, edit in edits.items():
        groups.setdefault(edit, []).append(field)
    for edit, fields in groups.items():
        how = f" ({edit.operation})" if edit.operation else ""
        notes = "".join(f", {note}" for system in systems() if (note := system.edit_note(edit.manager)))
        names = ", ".join(fields[:maximum]) + (f" and {len(fields) - maximum} more" if len(fields) > maximum else "")
        yield f"{names} by {edit.manager}{how}{ago_or_at(edit.time, now)}{notes}"
