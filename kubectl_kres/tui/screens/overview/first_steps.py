"""What the first screen says until it is left for the first time."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.render.text.line import Line

_STEPS = (
    ("enter", "opens what is under the cursor, esc goes back"),
    ("s", "tries the fix: all screens show what it leads to; shift-u ends that"),
    (": / ^p", "go to a list (deploy, nodes, waiting), filter it, find an object"),
    ("?", "says what the keys and words of a screen mean"),
    ("ctrl-y", "copies the command of a screen; nothing is written to the cluster"),
)
#: Lines that it takes with its title.
LINES = len(_STEPS) + 1


def first_steps(_width: int) -> Iterator[Line]:
    for key, text in _STEPS:
        yield [("strong", f" {key:<8}"), ("", text)]
