"""Answers ``kubectl_complete-kres``: what may stand at the end of a command line, as kubectl's protocol has it.

A line for each candidate, with a tab before what it does, then a colon and a number for the shell. Commands and flags
come from the parser's own tables. Types, ``TYPE/NAME`` and names come from a cluster, a snapshot or a kubeconfig; what
takes longer than ``LIMIT``, fails or would ask is left out. Source: kubectl cmd/plugin_completion.go.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kubectl_kres.cli.args import flags
from kubectl_kres.cli.args.flags import CommandLine
from kubectl_kres.cli.args.options import SHARED, OneOf, Options
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.program import Program, aliases, commands
from kubectl_kres.cli.system import systems

if TYPE_CHECKING:
    from kubectl_kres.model.kinds import Kind

#: What the shell gets beside the candidates. Source: spf13/cobra ShellCompDirective.
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


def build_name_context(
    takes: Callable[[Kind], bool], words: Sequence[str], typed: str, options: Options, *, slash: bool = False
) -> CompletionContext:
    """Return the slot behind ``words``. ``takes``: which kinds they may be of. ``slash``: only ``TYPE/NAME`` is
    understood.

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
    from kubectl_kres.model.kinds import KINDS

    return tuple(Completion(f"{kind.plural}{end}", kind.kind) for kind in KINDS if takes(kind))


#: Stands for the word at the cursor: no word that is typed holds a NUL.
_HERE = "\0"

#: The type whose objects a flag names.
_TYPES = {"namespaces": "namespaces"} | {flag: kind for system in systems() for flag, kind in system.flag_types.items()}

#: The part of the kubeconfig that a flag names an entry of.
_ENTRIES = {"context": "contexts", "contexts": "contexts", "cluster": "clusters", "user": "users"}


def find(words: Sequence[str]) -> CompletionContext:
    """Return the slot of the last word. Without candidates where the words before it cannot be understood."""
    *before, typed = words or [""]
    program = Program()
    ctx = click.Context(program, info_name="kubectl kres")
    try:
        shared = (*SHARED, *program.params)
        line, rest = _split(before, typed, shared, ctx, stop=True)
        if line.words in {(), (_HERE,)}:
            return _complete_before_command(line, rest, typed, shared)
        name, *command_words = line.words
        command = program.get_command(ctx, aliases().get(name, name))
        if not isinstance(command, Command):
            return CompletionContext(typed)
        if command_words[-1:] == [_HERE]:
            command_words = command_words[:-1]
        inner, rest = _split(command_words, typed, command.params, ctx)
        return _complete_after_command(command, CommandLine((*line.flags, *inner.flags), inner.words), rest, typed)
    except click.UsageError:
        return CompletionContext(typed)


def _split(
    before: Sequence[str], typed: str, known: Iterable[click.Parameter], ctx: click.Context, *, stop: bool = False
) -> tuple[CommandLine, str]:
    """Return the words with a mark for the last one, and what of that one stands before the mark: ``--output=``,
    ``-n``.
    """
    by_name = {name: flag for flag in known if isinstance(flag, click.Option) for name in flag.opts}
    rest = ""
    if typed.startswith("--") and "=" in typed:
        rest = typed[: typed.index("=") + 1]
    elif len(typed) > 2 and typed[0] == "-" and typed[:2] in by_name and not by_name[typed[:2]].is_flag:
        rest = typed[: 3 if typed[2] == "=" else 2]
    return flags.split([*before, rest + _HERE], by_name.values(), ctx, stop=stop), rest


def _complete_before_command(
    line: CommandLine, rest: str, typed: str, shared: Iterable[click.Parameter]
) -> CompletionContext:
    """Before the command, or at it."""
    options = _options(line)
    if line.flags and line.flags[-1].value == _HERE:
        return _value(_flag(line.flags[-1].field, shared), None, rest, typed, options)
    if typed.startswith("-"):
        return CompletionContext(typed, words=_names(shared, line))
    return CompletionContext(typed, words=_commands(), options=options)


def _complete_after_command(command: Command, line: CommandLine, rest: str, typed: str) -> CompletionContext:
    """Behind the command: the value of a flag, a flag, or one of the words."""
    options = _options(line)
    if line.flags and line.flags[-1].value == _HERE:
        return _value(_flag(line.flags[-1].field, command.params), command, rest, typed, options)
    if typed.startswith("-"):
        return CompletionContext(typed, words=_names(command.params, line))
    words = line.words[:-1]
    if command.name == "help":
        return CompletionContext(typed, words=() if words else _commands())
    if options.filenames:
        return CompletionContext(typed)
    return _complete_argument(command, words, typed, options)


def _complete_argument(command: Command, words: Sequence[str], typed: str, options: Options) -> CompletionContext:
    """Return one of the words that are no flags, as the command declares them."""
    completes = command.completes
    if isinstance(completes, tuple):
        return CompletionContext(typed, words=() if words else tuple(map(Completion, completes)))
    if isinstance(completes, str):
        return CompletionContext(typed, type=completes, taken=frozenset(words), options=options)

    return build_name_context(completes, words, typed, options)


def _value(flag: click.Option, command: Command | None, rest: str, typed: str, options: Options) -> CompletionContext:
    """Return the value of a flag. ``rest``: what stands before it in the same word; a shell takes off ``--flag=``
    itself.
    """
    slot = CompletionContext(typed[len(rest) :], "" if rest.endswith("=") else rest, options=options)
    if flag.metavar in {"FILE", "DIR", "DIR|GLOB"}:
        return slot._replace(directive=FOLDERS if flag.metavar == "DIR" else FILES)
    if flag.name in _TYPES:
        namespaces = options.namespaces if flag.multiple else ()
        return slot._replace(type=_TYPES[flag.name], taken=frozenset(namespaces))
    if flag.name in _ENTRIES:
        return slot._replace(entries=_ENTRIES[flag.name])
    if flag.metavar == "TYPE/NAME":
        from kubectl_kres.reports.common.system import makes_one_pod

        completion_context = build_name_context(makes_one_pod, (), slot.typed, options, slash=True)
        return completion_context._replace(before=slot.before + completion_context.before)
    return slot._replace(words=tuple(Completion(word) for word in _choices(flag, command) if word))


def _choices(flag: click.Option, command: Command | None) -> Iterable[str]:
    if flag.name == "output":
        return command.formats if command else ()
    if flag.name == "kube_version":
        from kubectl_kres.admission.base.versions import NEWEST, OLDEST, version_text

        return [version_text((NEWEST[0], minor)) for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    return flag.callback.words if isinstance(flag.callback, OneOf) else ()


def _commands() -> tuple[Completion, ...]:
    return tuple(Completion(name, about) for name, (_, about) in commands().items())


def _names(known: Iterable[click.Parameter], line: CommandLine) -> tuple[Completion, ...]:
    """Return the flags that may follow: all that are not given yet or may be repeated."""
    given_fields = {given_flag.field for given_flag in line.flags}
    return tuple(
        Completion(name, (flag.help or "").partition(". ")[0].rstrip("."))
        for flag in known
        if isinstance(flag, click.Option) and (flag.name not in given_fields or flag.multiple)
        for name in flag.opts
    )


def _flag(field: str, known: Iterable[click.Parameter]) -> click.Option:
    return next(flag for flag in known if isinstance(flag, click.Option) and flag.name == field)


def _options(line: CommandLine) -> Options:
    """Return the flags that are given before the cursor; numbers keep their defaults, since nothing here depends on
    them.
    """
    values: dict[str, Any] = {}
    for given_flag in line.flags:
        default = Options._field_defaults.get(given_flag.field)
        if given_flag.value == _HERE or default is None or type(default) is int:
            continue
        values[given_flag.field] = (
            (*values.get(given_flag.field, ()), given_flag.value) if isinstance(default, tuple) else given_flag.value
        )
    return Options(**values)


#: Seconds that all of it may take: a cluster behind a slow link answers within them, and kubectl's own completion waits
#: for longer.
LIMIT = 5.0

#: Shells expand some of the words that they are given to choose from: only harmless ones are.
_SAFE = re.compile(r"[A-Za-z0-9@_][A-Za-z0-9@._:/+=,%~-]*")


def complete(words: Sequence[str]) -> int:
    """Print the answer for the words typed so far. Ends the process, and all that was started to get the answer."""
    began = monotonic()
    _detach_terminal()
    try:
        text = answer(words, began)
    except (Exception, KeyboardInterrupt):  # noqa: BLE001, as above all a prompt must come back
        text = f":{NO_FILES}\n"
    with suppress(OSError, ValueError):
        sys.stdout.write(text)
        sys.stdout.flush()
    _end_process()
    return 0


def answer(words: Sequence[str], began: float) -> str:
    """Return the candidates and the directive, in lines. ``began``: the monotonic time from which the limit counts."""
    slot = find(words)
    lines = [f"{slot.before}{word}\t{about}".rstrip("\t") for word, about in slot.words if word.startswith(slot.typed)]
    read = [f"{slot.before}{name}" for name in _read(slot, began + LIMIT)]
    return "\n".join([*lines, *read, f":{slot.directive}"]) + "\n"


def _read(slot: CompletionContext, until: float) -> list[str]:
    """The names that are not known before something is read, in order; none if they are not there in time."""
    if not (slot.type or slot.entries):
        return []
    from kubectl_kres.cli import complete_names
    from kubectl_kres.cluster.transport.parallel import start

    try:
        if slot.entries:
            entries: Iterable[str] = complete_names.entries(slot.options, slot.entries)
        else:
            left = until - monotonic()
            entries = start(partial(complete_names.names, slot.options, slot.type, left)).result(max(left, 0.0))
    except Exception:  # noqa: BLE001, at a prompt nobody can read of an error
        return []
    return sorted(
        {
            entry
            for entry in entries
            if entry.startswith(slot.typed) and entry not in slot.taken and _SAFE.fullmatch(entry)
        }
    )


def _detach_terminal() -> None:
    """Leave the terminal, so that no credential plugin can ask there: no input, no error output, no session of it."""
    if hasattr(os, "setsid"):
        with suppress(OSError):  # it leads its group already
            os.setsid()
    sys.stdin = None
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 2)


def _end_process() -> None:
    """End at once, threads that wait for a server included, and with us the plugins that were started."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid() == os.getsid(0):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with suppress(OSError):
            os.killpg(0, signal.SIGTERM)
    os._exit(0)
