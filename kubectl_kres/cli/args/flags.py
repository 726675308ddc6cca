"""The flags of a command line, read as kubectl reads them (flags anywhere, ``-nX``), and those that a proposed command
repeats.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import click

from kubectl_kres.cli.args.options import REFUSED, Options

if TYPE_CHECKING:
    from kubectl_kres.model.objects import ObjectRef


_TRUE = {"1", "t", "T", "true", "TRUE", "True"}
_FALSE = {"0", "f", "F", "false", "FALSE", "False"}

#: The one flag whose value may be left out, and what it is then.
_OPTIONAL = {"verbosity": "1"}


class GivenFlag(NamedTuple):
    """A flag as it was written: the field that it sets, its long name, and its value; a switch is on or off."""

    field: str
    name: str
    value: str | bool


class CommandLine(NamedTuple):
    """The flags and the other words of a command line, each in their order."""

    flags: tuple[GivenFlag, ...]
    words: tuple[str, ...]


def split(
    arguments: Iterable[str], flags: Iterable[click.Parameter], ctx: click.Context, *, stop: bool = False
) -> CommandLine:
    """Return the flags among the arguments; behind ``--`` there are none. ``stop``: end at the first word that is no
    flag.

    Raises click.UsageError for unknown flags and missing values, in kubectl's words, and for kubectl's flags that do
    not exist here. Source: spf13/pflag parseArgs.
    """
    flags_by_option = {name: flag for flag in flags if isinstance(flag, click.Option) for name in flag.opts}
    rest = list(arguments)[::-1]
    given_flags: list[GivenFlag] = []
    words: list[str] = []
    while rest:
        word = rest.pop()
        if word == "--" or (stop and not _is_flag(word)):
            words += [word, *rest[::-1]] if word != "--" else rest[::-1]
            break
        if not _is_flag(word):
            words.append(word)
        elif word.startswith("--"):
            given_flags.append(_read_long_flag(word, rest, flags_by_option, ctx))
        else:
            given_flags += _short(word, rest, flags_by_option, ctx)
    return CommandLine(tuple(given_flags), tuple(words))


def values(
    before: Iterable[GivenFlag], own_flags: Iterable[GivenFlag], flags: Iterable[click.Parameter], ctx: click.Context
) -> dict[str, str | bool | list[str | bool]]:
    """By field what the flags before the command and its own give; its own win.

    Raises click.UsageError for a flag before the command that the command does not take.
    """
    own_flags = tuple(own_flags)
    flags_by_field = {flag.name: flag for flag in flags}
    overruled = {flag.field for flag in own_flags}
    for flag in before:
        if flag.field not in flags_by_field:
            raise unknown(flag.name, (), ctx)
    result: dict[str, list[str | bool]] = {}
    for flag in (*(flag for flag in before if flag.field not in overruled), *own_flags):
        result.setdefault(flag.field, []).append(flag.value)
    return {
        field: given_flags if flags_by_field[field].multiple else given_flags[-1]
        for field, given_flags in result.items()
    }


def unknown(name: str, names: Iterable[str], ctx: click.Context) -> click.UsageError:
    """Return the error for a flag that does not exist, naming the nearest that does."""
    names = list(names)
    import difflib  # one start in a thousand needs it

    near = [text for text in names if text.startswith(name)] or difflib.get_close_matches(name, names, 1)
    return click.UsageError(f"unknown flag: {name}" + (f", did you mean {near[0]}?" if near else ""), ctx)


def _is_flag(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _read_long_flag(word: str, rest: list[str], known: Mapping[str, click.Option], ctx: click.Context) -> GivenFlag:
    name, equals, value = word.partition("=")
    flag = known.get(name)
    if flag is None:
        _refuse_flag(name, ctx)
        raise unknown(name, (known_name for known_name in known if known_name.startswith("--")), ctx)
    if equals:
        return _build_given_flag(flag, value, ctx)
    return _build_given_flag(flag, _value(flag, rest, f"flag needs an argument: {name}", ctx), ctx)


def _short(word: str, rest: list[str], known: Mapping[str, click.Option], ctx: click.Context) -> list[GivenFlag]:
    """Return the flags of a word as ``-An``: switches, and at its end one that may take the rest of the word as its
    value.
    """
    given_flags: list[GivenFlag] = []
    for index, letter in enumerate(word[1:], start=1):
        flag = known.get(f"-{letter}")
        if flag is None:
            _refuse_flag(f"-{letter}", ctx)
            raise click.UsageError(f"unknown shorthand flag: '{letter}' in {word}", ctx)
        tail = word[index + 1 :]
        if tail.startswith("=") or (tail and not flag.is_flag):
            return [*given_flags, _build_given_flag(flag, tail.removeprefix("="), ctx)]
        given_flags.append(
            _build_given_flag(flag, _value(flag, rest, f"flag needs an argument: '{letter}' in {word}", ctx), ctx)
        )
    return given_flags


def _value(flag: click.Option, rest: list[str], missing: str, ctx: click.Context) -> str:
    """Return the value in the next word, if the flag takes one."""
    if flag.is_flag:
        return "true"
    if flag.name in _OPTIONAL and not (rest and rest[-1].isdigit()):
        return _OPTIONAL[flag.name]
    if not rest:
        raise click.UsageError(missing, ctx)
    return rest.pop()


def _build_given_flag(flag: click.Option, value: str, ctx: click.Context) -> GivenFlag:
    if flag.is_flag and value not in _TRUE | _FALSE:
        names = ", ".join(flag.opts)
        raise click.UsageError(f'invalid argument "{value}" for "{names}" flag: true or false is expected', ctx)
    return GivenFlag(flag.name or "", flag.opts[-1], value in _TRUE if flag.is_flag else value)


def _refuse_flag(name: str, ctx: click.Context) -> None:
    if name in REFUSED:
        raise click.UsageError(f"{name} {REFUSED[name]}", ctx)


#: Flags that choose server and user, with their options, as kubectl takes them, too.
_ACCESS = (
    ("--kubeconfig", "kubeconfig"),
    ("--context", "context"),
    ("--cluster", "cluster"),
    ("--user", "user"),
    ("--server", "server"),
    ("--certificate-authority", "certificate_authority"),
    ("--tls-server-name", "tls_server_name"),
    ("--client-certificate", "client_certificate"),
    ("--client-key", "client_key"),
    ("--as", "impersonate"),
    ("--as-uid", "impersonate_uid"),
)
#: In place of a token, which is never shown: without the flag the command would run as somebody else.
_TOKEN = "--token ..."  # noqa: S105, none


def access_flags(options: Options) -> str:
    """Return those that were given of the flags that choose server and user, quoted for a shell; a token is left for
    the user to fill in.
    """
    return " ".join(_access(options))


def same_source(options: Options) -> str:
    """Return the flags with which another of our commands looks at the same objects, quoted for a shell: without a
    cluster nobody is asked.
    """
    text = " ".join(_source(options))
    alone = options.demo or options.snapshot or options.offline
    return text if alone else f"{text} {access_flags(options)}".strip()


def explain_command(options: Options, ref: ObjectRef, file: str = "", *, command: str = "explain") -> str:
    """Return the command that gives the whole answer about an object; about one of a file by its file. Empty where that
    was standard input.
    """
    if "-" in options.filenames:
        return ""
    if not file:
        from kubectl_kres.render.verdict.brief import object_command  # --help must stay fast

        return object_command(command, ref, same_source(options))
    spaced = f"-n {shlex.quote(options.namespaces[0])}" if len(options.namespaces) == 1 else ""
    return " ".join(filter(None, [f"kubectl kres {command}", spaced, same_source(options)]))


def _source(options: Options) -> Iterator[str]:
    if options.demo:
        yield "--demo"
    for flag, value in (("--snapshot", options.snapshot), *(("-f", file) for file in options.filenames)):
        if value:
            yield f"{flag} {shlex.quote(value)}"
    if options.recursive:
        yield "-R"
    if options.offline:
        yield "--offline"


def _access(options: Options) -> Iterator[str]:
    given_flags = [(flag, getattr(options, field)) for flag, field in _ACCESS]
    given_flags += [("--as-group", group) for group in options.impersonate_groups]
    given_flags += [("--as-user-extra", extra) for extra in options.impersonate_extra]
    yield from (f"{flag} {shlex.quote(value)}" for flag, value in given_flags if value)
    if options.token:
        yield _TOKEN
    if options.insecure:
        yield "--insecure-skip-tls-verify"
