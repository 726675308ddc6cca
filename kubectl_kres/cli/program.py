"""All commands and what they share. The module of a command is imported when the command is called."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import cast

import click

from kubectl_kres import __version__
from kubectl_kres.cli.args import flags
from kubectl_kres.cli.args.options import SHARED
from kubectl_kres.cli.command import Command, help_flag, rows
from kubectl_kres.cli.garbage import loading
from kubectl_kres.cli.output import exit_codes as ending
from kubectl_kres.errors import ConfigError, Exit, on_one_line

_HERE = "kubectl_kres.cli.commands"

#: Command to the module that holds it as ``command``, and its line in the help. Those of systems come after the last
#: one of ``_FIRST``; see ``commands``.
_FIRST = {
    "overview": (f"{_HERE}.overview", "Show what there is, the worst problems and how to fix them"),
    "explain": (f"{_HERE}.explain", "Explain why pods get the requests and limits they get"),
    "quota": (f"{_HERE}.quota", "Show what quotas limit, what is used and what still fits"),
}
_REST = {
    "check": (f"{_HERE}.check", "Find what is wrong or about to be, and what to do"),
    "timeline": (f"{_HERE}.timeline", "Show what decided about pods, and when, the newest first"),
    "simulate": (f"{_HERE}.simulate", "Show what a change would do, and which workloads it would hurt"),
    "diff": (f"{_HERE}.diff", "Compare what is written with what the API server stores"),
    "qos": (f"{_HERE}.qos", "Show QoS classes, what decides them, and cgroups"),
    "tui": (f"{_HERE}.tui", "Browse on full screen: namespaces, pods, quotas, and why"),
    "snapshot": (f"{_HERE}.snapshot", "Save what the other commands read to a file"),
    "fleet": (f"{_HERE}.fleet", "Ask many clusters or snapshots at once, one table"),
    "mcp": (f"{_HERE}.mcp", "Answer agents over the Model Context Protocol"),
    "completion": (f"{_HERE}.completion", "Let kubectl complete commands, flags and names"),
    "version": (f"{_HERE}.version", "Print the versions of this program and of the server"),
    "schema": (f"{_HERE}.schema", "Print the JSON Schema of a command's output"),
    "options": (f"{_HERE}.help", "List the flags that every command takes"),
    "help": (f"{_HERE}.help", "Help about a command"),
}
#: Commands of kubectl that show objects.
_OF_KUBECTL = frozenset({"describe", "get", "why", "show", "top"})
#: The word and the name of the program that ask what may follow, instead of for an answer.
COMPLETE, COMPLETER = "__complete", "kubectl_complete-"
#: The word that makes the program a worker of ``fleet``.
FLEET_WORKER = "__fleet-worker"
_HELP = """
Explains computed resource values of Kubernetes: which rule, of which object,
set them.

Examples:
  # Why does this pod have the requests and limits that it has?
  kubectl kres explain pod/web

  # What would the API server change in this manifest?
  kubectl kres diff -f pod.yaml

  # The same without a cluster, on a bundled example
  kubectl kres explain --demo deployments

Commands:
{commands}

Usage:
  kubectl kres COMMAND [flags]

Use "kubectl kres COMMAND --help" for more about a command, and
"kubectl kres options" for the flags that every command takes."""


@cache
def commands() -> Mapping[str, tuple[str, str]]:
    """Return all commands, including those of systems, in the order of the help."""
    from kubectl_kres.cli.system import systems

    return {**_FIRST, **{name: about for system in systems() for name, about in system.commands.items()}, **_REST}


@cache
def aliases() -> Mapping[str, str]:
    """Other names of commands."""
    from kubectl_kres.cli.system import systems

    return {"quotas": "quota", **{alias: name for system in systems() for alias, name in system.aliases.items()}}


def module_of(command: str) -> str:
    """Return the module that holds a command; empty: there is none. What systems have is loaded for other names
    alone.
    """
    own_commands = _FIRST.get(command) or _REST.get(command) or commands().get(command)
    return own_commands[0] if own_commands else ""


class Program(click.Group):
    """All commands. Flags before the command are kept for it."""

    def __init__(self) -> None:
        version = click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, hidden=True, callback=_show_version
        )
        super().__init__(
            "kubectl-kres", params=[help_flag(), version], invoke_without_command=True, add_help_option=False
        )
        self.callback = _without_command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the command and the arguments behind it."""
        line = flags.split(args, (*SHARED, *self.params), ctx, stop=True)
        ctx.obj = tuple(given_flag for given_flag in line.flags if given_flag.field != "version")
        own_commands = [
            given_flag.name
            for given_flag in line.flags
            if given_flag.value is True and given_flag.name in self._answered_flags(line.words)
        ]
        return super().parse_args(ctx, [*own_commands, "--", *line.words])

    def _answered_flags(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the flags that the program itself answers. A ``--help`` before a command belongs to the command."""
        return ("--version",) if words else ("--version", "--help")

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the help."""
        del ctx
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command; None if there is no such command."""
        del ctx
        module_name = module_of(cmd_name)
        if not module_name:
            return None
        if module_name not in sys.modules:
            with loading():
                import_module(module_name)
        module = sys.modules[module_name]
        return cast("Command", module.COMMANDS[cmd_name] if hasattr(module, "COMMANDS") else module.command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names. Raises click.UsageError that suggests the nearest."""
        name, *rest = args
        name = name if name in _FIRST or name in _REST else aliases().get(name, name)
        command = self.get_command(ctx, name)
        if command is None:
            near = "".join(f"\n\t{command_line}" for command_line in _find_similar_commands(name, rest))
            suggestion = f"\n\nDid you mean this?{near}\n" if near else ""
            raise click.UsageError(f'unknown command "{on_one_line(name)}" for "{ctx.command_path}"{suggestion}', ctx)
        return name, command, rest

    def get_help(self, ctx: click.Context) -> str:
        """Return what the program is for, and its commands."""
        lines = "\n".join(rows(((name, line) for name, (_, line) in commands().items()), 14))
        return _HELP.strip().format(commands=lines).replace("kubectl kres", ctx.command_path)


def _find_similar_commands(name: str, rest: Sequence[str]) -> Sequence[str]:
    """Return what was probably meant by a command that there is not: kubectl's words and types lead to ``explain``."""
    import difflib  # one start in a thousand needs them

    from kubectl_kres.model.kinds import find

    if name in _OF_KUBECTL:
        return [" ".join(("explain", *(on_one_line(word) for word in rest[:1])))]
    if find(name.partition("/")[0]) is not None:
        return [f"explain {on_one_line(name)}"]
    return difflib.get_close_matches(name, commands())


def _show_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001, click calls it
    if value:
        click.echo(f"kubectl-kres {__version__}")
        ctx.exit()


@click.pass_context
def _without_command(ctx: click.Context, /, **_: object) -> int:
    if ctx.invoked_subcommand is not None:
        return 0
    on_terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    name = "tui" if on_terminal else "overview"
    command = cast("Program", ctx.command).get_command(ctx, name)
    assert command is not None
    with command.make_context(name, [], parent=ctx) as called:
        try:
            return cast("int", command.invoke(called))
        except ConfigError as error:
            # Who has no cluster yet sees what there is.
            ending.print_error(error)
            click.echo(ctx.get_help(), color=False)
            return Exit.UNREAD
