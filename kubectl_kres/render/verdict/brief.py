"""An answer in at most five lines: what becomes of an object and why, the remedy, another one, what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.line import LABEL, Line, Tone, draw
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.remedy import Remedy


class Brief(Struct, frozen=True):
    """What the lines say, each as long as it is; empty: there is no such line.

    ``text``: what follows the word on the first line. ``how``: how the remedy is made where nothing can be typed.
    ``warning``: what is true beside it, as a line of its own.
    """

    tone: Tone
    word: str
    text: str
    remedy: str = ""
    run: str = ""
    how: str = ""
    other: str = ""
    warning: str = ""
    next: str = ""


def lines(brief: Brief, *, color: bool = False) -> Iterator[str]:
    """Yield each on one line, however long."""
    for line in _lines(brief):
        yield draw(line, color=color)


def _lines(brief: Brief) -> Iterator[Line]:
    yield [(brief.tone, brief.word), ("", brief.text)]
    texts = {
        "fix": brief.remedy,
        "run": brief.run,
        "": "" if brief.run else brief.how,
        "or": brief.other,
        "next": brief.next,
    }
    for label, text in texts.items():
        if text:
            yield [("strong", f"{label:<{LABEL}}"), ("", text)]
    if brief.warning:
        yield [("warn", brief.warning)]


def with_remedies(brief: Brief, remedies: Sequence[Remedy]) -> Brief:
    """With the first remedy, the second one, and who uses the quota that is full."""
    if not remedies:
        return brief
    first, *others = remedies
    question = next((remedy.owners for remedy in remedies if remedy.owners), "")
    return structs.replace(
        brief,
        remedy=sentence_text(first.text),
        run=" && ".join(first.commands),
        how=sentence_text(first.no_command_reason),
        other=sentence_text(others[0].text) if others else "",
        next=question or brief.next,
    )


def object_command(command: str, ref: ObjectRef, flags: str = "", *, kind: bool = True) -> str:
    """Return the command of ours that says more of an object. ``kind``: its words name kinds."""
    name = f"{ref.kind.lower()}/{shlex.quote(ref.name)}" if kind else shlex.quote(ref.name)
    namespace_flag = f"-n {shlex.quote(ref.namespace)}" if ref.namespace else ""
    return " ".join(filter(None, ["kubectl kres", command, name, namespace_flag, flags]))
