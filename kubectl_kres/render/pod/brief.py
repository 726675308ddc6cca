"""An explanation in at most five lines: what becomes of it and why, the remedy, another one, what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from kubectl_kres.render.text.line import Line, draw
from kubectl_kres.render.verdict.headline import at_maximum, headline
from kubectl_kres.reports.common.explanation import Explanation

#: Lines of an answer at most.
LINES = 5


def lines(explanation: Explanation, flags: str = "", *, color: bool = False) -> Iterator[str]:
    """Each on one line, however long. ``flags``: those with which the next command asks the same source."""
    for line in [*_lines(explanation, flags)][:LINES]:
        yield draw(line, color=color)


def _lines(explanation: Explanation, flags: str) -> Iterator[Line]:
    tone, word, text = headline(explanation)
    yield [(tone, word), ("", text)]
    if not explanation.remedies:
        if explanation.note:
            yield [("strong", "remedy: "), ("", explanation.note)]
        reach = explanation.autoscaled
        if reach is not None and reach.fits < reach.most:
            yield [("warn", at_maximum(reach))]
        return
    first, *others = explanation.remedies
    yield [("strong", "remedy: "), ("", first.text)]
    if first.commands:
        yield [("strong", "   run: "), ("", " && ".join(first.commands))]
    elif first.why:
        yield [("strong", "   how: "), ("", first.why)]
    if others:
        more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
        yield [("strong", "    or: "), ("", f"{others[0].text}{more}")]
    ask = next((one.ask for one in explanation.remedies if one.ask), "")
    yield [("strong", "  next: "), ("", ask or _explain(explanation, flags))]


def _explain(explanation: Explanation, flags: str) -> str:
    """The whole answer; of an object of a file nothing more can be named."""
    ref = explanation.subject
    words = [
        f"{ref.kind.lower()}/{shlex.quote(ref.name)}",
        *(["-n", shlex.quote(ref.namespace)] if ref.namespace else []),
    ]
    return " ".join(filter(None, ["kubectl kres explain", *words, flags]))
