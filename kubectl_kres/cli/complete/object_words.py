"""Words that name objects, as far as they are typed: a type, ``TYPE/NAME``, or a name behind a type."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.complete.cursor import NO_FILES, NO_SPACE, Completion, CompletionContext
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
    type_, text, name = typed.partition("/")
    if text:
        taken = frozenset(word.partition("/")[2] for word in words if word.partition("/")[0] == type_)
        return CompletionContext(name, f"{type_}/", type="" if listing else type_, taken=taken, options=options)
    if words or slash:
        return CompletionContext(typed, words=_types(takes, "/"), directive=NO_FILES | NO_SPACE)
    before, comma, last = typed.rpartition(",")
    return CompletionContext(last, before + comma, _types(takes, ""))


def _types(takes: Callable[[Kind], bool], end: str) -> tuple[Completion, ...]:
    return tuple(Completion(f"{kind.plural}{end}", kind.kind) for kind in KINDS if takes(kind))
