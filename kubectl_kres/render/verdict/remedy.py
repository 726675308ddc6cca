"""Fixes as lines: each way after the other, who owns what it edits, the commands that make it, and what to ask next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubectl_kres.record import Clauses, Wording
from kubectl_kres.render.text.line import LABEL, Line, command_lines, labelled_lines, size, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.remedy import KeptBy, Permanence, Remedy, When
from kubectl_kres.wording import join_words

#: Where a controller was refused before, its next pods take a while.
BACK_OFF = "controllers retry with back-off; new pods can take minutes"
_INDENT = " " * LABEL
_STAYS = "nothing was seen that would undo it"
#: Cells of a reason that may stand on the line of its fix.
_FEW_WORDS = 40
_WHEN: dict[When, str] = {
    "self-heal": "{by} undoes a patch within seconds (self-heal is on)",
    "interval": "{by} undoes a patch within {within}",
    "reconcile": "{by} undoes a patch at its next look",
    "next-sync": "a patch stays until {by} is synced again (self-heal is off)",
    "next-release": "a patch stays until the next release",
    "next-apply": "a patch stays until {by} runs again",
    "resumed": "{by} is suspended: a patch stays until it is resumed",
}
#: Why it is not known, behind who may undo it.
_REASONS = {
    "denied": "{by} may not be read",
    "failed": "{by} could not be read",
    "absent": "{by} is not in this cluster",
    "read": "{by} was not found",
    "several": "there are several of the name {by}",
    "ignores": "{by} leaves differences of some fields alone",
    "manager": "{by} wrote the field",
}
#: What the command answers that comes next.
_WHO = "who uses the quota"


def remedy_lines(
    remedies: Sequence[Remedy], width: int, note: str = "", *, calm: bool = False, commands: bool = True
) -> Iterator[Line]:
    """Yield every fix, numbered where there are several; without one the note. Commands are not broken.

    ``calm``: the note asks for nothing to be done.
    """
    if note and not remedies and not calm:
        yield from labelled_lines("fix", note, width)
    elif note:
        yield from tone_lines("quiet" if not remedies else "", wrap_text(note, width))
    for number, remedy in enumerate(remedies, 1):
        yield from _text_lines(f"fix {number}" if len(remedies) > 1 else "fix", remedy, width)
        if remedy.remaining_refusal and (remedy.contested or not remedy.by_hand):
            remaining = sentence_text(remedy.remaining_refusal)
            what = remaining if remedy.contested else f"then still refused: {remaining}"
            yield from tone_lines("warn", wrap_text(what, width, first=_INDENT, rest=_INDENT))
        if commands:
            for command in remedy.commands:
                yield [("", _INDENT), ("command", command)]
        yield from _undone_lines(remedy, width)
    if lasting := _lasting_text(remedies):
        yield from labelled_lines("stays", lasting, width)
    questions = dict.fromkeys(remedy.owners for remedy in remedies if remedy.owners)
    if questions and commands:
        yield from command_lines("next", _WHO, questions, width)


def _text_lines(label: str, remedy: Remedy, width: int) -> Iterator[Line]:
    """Yield what to do, and why there is no command for it, with when a patch would be undone."""
    text, reason = sentence_text(remedy.text), sentence_text(remedy.no_command_reason)
    if reason:
        reason = "; ".join(filter(None, (reason, undone_text(remedy.stays))))
    behind = bool(reason) and _fits_behind(text, reason, width)
    yield from labelled_lines(label, f"{text}; {reason}" if behind else text, width)
    if reason and not behind:
        yield from tone_lines("quiet", wrap_text(reason, width, first=_INDENT, rest=_INDENT))


def _undone_lines(remedy: Remedy, width: int) -> Iterator[Line]:
    """Yield when the patch of the commands above is undone, unless it stands beside the reason for having none."""
    undone = undone_text(remedy.stays)
    if undone and remedy.commands and not remedy.no_command_reason:
        yield from tone_lines("quiet", wrap_text(undone, width, first=_INDENT, rest=_INDENT))


def undone_text(permanence: Permanence | None, *, names_keeper: bool = False) -> str:
    """Return when a patch is undone, or why that is not known; empty for one that stays or edits nothing, and where all
    is said by who keeps the object. ``names_keeper``: nothing else says that, and this does.
    """
    if permanence is None or permanence.state == "stays":
        return ""
    if permanence.state == "undone":
        text = _WHEN[permanence.when] if permanence.when else "a patch is undone" * names_keeper
    else:
        why = _REASONS.get(permanence.reason, "")
        text = f"a patch may be undone{f' ({why})' if why else ''}"
    if names_keeper and "{by}" not in text:
        text = f"{{by}} keeps it: {text}"
    return text.format(by=permanence.by, within=permanence.within or "its interval")


def _fits_behind(text: str, reason: str, width: int) -> bool:
    """Return whether the last line of a fix has room for a few words on why there is no command."""
    lines = [sum(1 for _ in wrap_text(part, width - LABEL)) for part in (text, f"{text}; {reason}")]
    return size(reason) <= _FEW_WORDS and lines[0] == lines[1]


def _lasting_text(remedies: Sequence[Remedy]) -> str:
    """Return which fixes stay; empty: none that has a command does."""
    told = {number: remedy.stays for number, remedy in enumerate(remedies, 1) if remedy.stays is not None}
    lasting = [number for number, stays in told.items() if stays.state == "stays"]
    if not any(remedies[number - 1].commands for number in lasting):
        return ""
    if len(lasting) == len(told):
        return _STAYS
    which = join_words([f"fix {number}" for number in lasting])
    return f"{which}: nothing was seen that would undo {'it' if len(lasting) == 1 else 'them'}"


def first_fix_lines(remedies: Sequence[Remedy], width: int, note: str = "", *, calm: bool = False) -> Iterator[Line]:
    """Yield the same at the head of a screen: the first fix, then other ones. Lists do not ask who may undo one, and
    say nothing of it then.
    """
    for index, remedy in enumerate(map(_if_asked, remedies)):
        yield from _text_lines("or" if index else "fix", remedy, width)
        for command in remedy.commands:
            yield [("", _INDENT), ("command", command)]
        yield from _undone_lines(remedy, width)
        if remedy.commands and remedy.stays is not None and remedy.stays.state == "stays":
            yield from tone_lines("quiet", wrap_text(_STAYS, width, first=_INDENT, rest=_INDENT))
    if not remedies:
        yield from remedy_lines((), width, note, calm=calm)


def _if_asked(remedy: Remedy) -> Remedy:
    """Return the fix without what becomes of it, where nothing was read that tells."""
    stays = remedy.stays
    return replace(remedy, stays=None) if stays is not None and stays.reason == "unread" else remedy


_UNDONE = "a patch of the cluster would be undone"


def to_copy(remedy: Remedy | None) -> str:
    """Return its commands; where its owner would undo them, the fields with their values; empty: nothing."""
    if remedy is None:
        return ""
    if remedy.commands:
        return "\n".join(remedy.commands)
    fields = ((edit.field, getattr(edit, "to", None)) for edit in remedy.edits)
    return "\n".join(f"{field}: {to}" for field, to in fields if field and to is not None)


def not_copied(remedy: Remedy | None) -> str:
    """Return why Enter copies nothing of a remedy that has no command, and what does."""
    if remedy is None or not remedy.no_command_reason:
        return "there is no command to copy"
    # Whose it is stands beside the remedy.
    reason = remedy.no_command_reason
    return f"{_UNDONE if _is_kept(reason) else sentence_text(reason)}; c copies the field and value"


def _is_kept(reason: Wording) -> bool:
    """Return whether somebody keeps an object of the remedy as it is."""
    return isinstance(reason, KeptBy) or (isinstance(reason, Clauses) and any(map(_is_kept, reason.parts)))
