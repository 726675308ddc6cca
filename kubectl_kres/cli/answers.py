"""The loop that answers are made in: the objects asked about, one after the other, in one frame of reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import click

from kubectl_kres.cli.arguments import asked
from kubectl_kres.cli.clock import moment
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.server import described
from kubectl_kres.cli.source import KEPT, Input, Source, opened
from kubectl_kres.cli.subjects import Found, Wants, chosen
from kubectl_kres.cli.tally import Tally
from kubectl_kres.reports.needs import needs
from kubectl_kres.reports.subject import Ask
from kubectl_kres.store.store import Origin, Store


def read_yaml(text: str) -> Any:
    """The value of YAML inside an object. Raises InputError."""
    from kubectl_kres.manifests import yamltext  # noqa: PLC0415, few answers need it

    return yamltext.value(text)


class Turn(NamedTuple):
    """Some objects whose answers can be made now. ``many``: they are not the only one that was asked about."""

    store: Store
    found: Found
    ask: Ask
    many: bool


#: Makes and shows the answers of a turn.
Answer = Callable[[Turn, Tally], None]
#: Finds the objects that flags and words name, and reads what their answers need.
Choose = Callable[[Source, Input, Options, Sequence[str], str], Iterator[Found]]
#: Shows what comes last.
End = Callable[[Origin, Tally], None]


def answer(
    options: Options,
    words: Sequence[str],
    each: Answer,
    end: End,
    wants: Wants = needs,
    choose: Choose | None = None,
    *,
    needed: bool = False,
) -> int:
    """Goes through all objects that flags and words name; returns the exit code.

    ``choose`` finds them if they are no pods and make none; else ``chosen`` does, with ``wants``. ``needed``: without
    words or files there is nothing to answer.
    """
    program = click.get_current_context().command_path
    choose = choose or partial(chosen, wants=wants)
    if needed and not (options.filenames or options.offline or options.recursive):
        # Words that cannot be understood need no cluster to be refused.
        asked(words, program=program)
    server_of = described(options)
    tally, listed = Tally(options), True
    with opened(options) as (source, given):
        ask: Ask | None = None
        for found in choose(source, given, options, words, program):
            if ask is None:
                server, assumptions = server_of(source.version())
                now = source.store.origin.time or moment()
                ask = Ask(server, (*source.supposed, *assumptions), now, read_yaml)
            for error in found.missing:
                tally.missed(error)
            tally.saw(found.unseen, complete=not found.unseen)
            tally.told = tally.told or found.told
            listed = listed and found.listed
            many = found.listed or len(found.subjects) + len(found.missing) > 1
            each(Turn(source.store, found, ask, many), tally)
        end(source.store.origin, tally)
        kept = KEPT.get()
        if kept is not None:
            kept.count, kept.met, kept.listed = tally.count, tally.met, listed
        return tally.code(source)
