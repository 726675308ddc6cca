"""What may stand at the cursor of a command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kubectl_kres.cli.args.options import Options
from kubectl_kres.model.kinds import KINDS, Kind


def named(
    takes: Callable[[Kind], bool], words: Sequence[str], typed: str, options: Options, *, slash: bool = False
) -> CompletionContext:
    """The slot behind ``words``. ``takes``: which kinds they may be of. ``slash``: only ``TYPE/NAME`` is understood.

    Names are none where a list is asked for, by a selector or over all namespaces.
    """
    listing = options.all_namespaces or bool(options.selector or options.field_selector)
    if words and "/" not in words[0] and not slash:
        many = "," in words[0]
        return CompletionContext(
            typed, type="" if listing or many else words[0], taken=frozenset(words[1:]), options=options
        )
    type_, found, name = typed.partition("/")
    if found:
        taken = frozenset(word.partition("/")[2] for word in words if word.partition("/")[0] == type_)
        return CompletionContext(name, f"{type_}/", type="" if listing else type_, taken=taken, options=options)
    if words or slash:
        return CompletionContext(typed, words=_types(takes, "/"), directive=NO_FILES | NO_SPACE)
    before, comma, last = typed.rpartition(",")
    return CompletionContext(last, before + comma, _types(takes, ""))


def _types(takes: Callable[[Kind], bool], end: str) -> tuple[Completion, ...]:
    return tuple(Completion(f"{kind.plural}{end}", kind.kind) for kind in KINDS if takes(kind))


#: What the shell is told beside the candidates. Source: spf13/cobra ShellCompDirective.
FILES, NO_SPACE, NO_FILES, FOLDERS = 0, 2, 4, 16


class Completion(NamedTuple):
    """A word, and what it does."""

    word: str
    about: str = ""


class CompletionContext(NamedTuple):
    """What may stand at the cursor.

    before, typed: what stays of the word, and how the part behind it begins. words: the candidates that need no
    reading. type: the type, as the user wrote it, whose objects are candidates, but for ``taken``. entries: the part of
    the kubeconfig whose entries are. options: the flags given before.
    """

    typed: str
    before: str = ""
    words: tuple[Completion, ...] = ()
    type: str = ""
    taken: frozenset[str] = frozenset()
    entries: str = ""
    directive: int = NO_FILES
    options: Options = Options()
