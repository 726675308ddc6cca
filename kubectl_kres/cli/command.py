"""A command: its flags, its help in kubectl's form, and the function that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import dedent, indent, wrap
from typing import TYPE_CHECKING

import click

from kubectl_kres.cli.args import flags
from kubectl_kres.cli.args.flags import access_flags
from kubectl_kres.cli.args.options import CONNECTION, GLOBAL, RARE, Options
from kubectl_kres.cli.settings import apply_settings
from kubectl_kres.errors import KresError

if TYPE_CHECKING:  # the kinds' structs cost more than a page of help
    from kubectl_kres.model.kinds import Kind

    Completes = tuple[str, ...] | str | Callable[[Kind], bool]

#: Takes the flags and the other words, returns the exit code.
Run = Callable[[Options, tuple[str, ...]], int]

WIDTH = 80

#: Examples on the page of ``--help``; ``help COMMAND`` has all.
_EXAMPLES = 5


def _show_help(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001, click calls it
    if value:
        click.echo(ctx.get_help(), color=False)
        ctx.exit()


def help_flag() -> click.Option:
    """``-h`` and ``--help``, which end the run."""
    return click.Option(
        ["-h", "--help", "show_help"], is_flag=True, is_eager=True, expose_value=False, hidden=True, callback=_show_help
    )


class Command(click.Command):
    """One command. ``usage`` is what follows its name; ``formats`` are those that ``-o`` takes.

    ``connects``: it may talk to a cluster; other commands accept the flags of a connection but do not list them.
    ``configured``: the user's settings apply to it; they never do to a command that does not connect.
    ``completes``: what its words are, for completion: some words, the type whose objects they name, or for words that
    name type and object which kinds they may be of.
    """

    def __init__(
        self,
        name: str,
        run: Run,
        *,
        text: str,
        examples: str,
        usage: str = "",
        flags: Sequence[click.Parameter] = (),
        formats: tuple[str, ...] = (),
        connects: bool = True,
        configured: bool = True,
        completes: Completes = (),
    ) -> None:
        params = [*flags, *CONNECTION, *GLOBAL, help_flag()]
        super().__init__(name, params=params, help=text, add_help_option=False)
        self.context_settings = {"allow_extra_args": True}
        self.run, self.usage, self.examples, self.formats = run, usage, dedent(examples).strip(), formats
        self.completes = completes
        self.configured = configured and connects
        self._own_flags = list(flags)
        self.listed = [*flags, *CONNECTION] if connects else list(flags)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the arguments that are not flags. Flags that stood before the command are added to it."""
        line = flags.split(args, self.params, ctx)
        before = ctx.obj or ()
        values = flags.values(before, line.flags, self.params, ctx)
        ctx.obj = (*before, *line.flags)
        for param in sorted(self.params, key=lambda param: not param.is_eager):
            param.handle_parse_result(ctx, values, [])
        ctx.args = list(line.words)
        return ctx.args

    def invoke(self, ctx: click.Context) -> int:
        """Run the command and return its exit code. Raises InputError for a bad file of settings."""
        options = Options(**ctx.params)
        if self.configured:
            options = apply_settings(options, {item.field for item in ctx.obj})
        try:
            return self.run(options, tuple(ctx.args))
        except KresError as error:
            error.access = access_flags(options)
            raise

    def get_help(self, ctx: click.Context) -> str:
        """Return the short help page: what the command does, its usage, the first examples, its own flags."""
        examples = self.examples.split("\n\n")
        more = f"all {len(examples)} examples and every flag" if len(examples) > _EXAMPLES else "more"
        parts = (
            wrap_paragraphs(dedent(self.help or "").strip().partition("\n\n")[0]),
            self._usage(ctx),
            "Examples:\n" + indent("\n".join(examples[:_EXAMPLES]), "  "),
            self._flags([flag for flag in self._own_flags if flag.name not in RARE]),
            f'Use "kubectl kres help {ctx.info_name}" for {more}.',
        )
        return _join_parts(parts, ctx)

    def whole_help(self, ctx: click.Context) -> str:
        """Return the long help page: the whole text, every example, the flags that people use."""
        parts = (
            wrap_paragraphs(self.help or ""),
            self._usage(ctx),
            f"Examples:\n{indent(self.examples, '  ')}",
            self._flags(self.listed),
            'Use "kubectl kres options" for the flags that every command takes.',
        )
        return _join_parts(parts, ctx)

    def _usage(self, ctx: click.Context) -> str:
        return f"Usage:\n  {' '.join(filter(None, ('kubectl kres', ctx.info_name, self.usage, '[flags]')))}"

    def _flags(self, flags: Sequence[click.Parameter]) -> str:
        shown = [flag for flag in flags if isinstance(flag, click.Option) and not flag.hidden]
        return "Flags:\n" + "\n".join(rows(row(flag, self.formats) for flag in shown)) if shown else ""


def _join_parts(parts: Iterable[str], ctx: click.Context) -> str:
    return "\n\n".join(filter(None, parts)).replace("kubectl kres", ctx.find_root().info_name or "")


def wrap_paragraphs(text: str) -> str:
    """Paragraphs wrapped to the width of a help page."""
    paragraphs = dedent(text).strip().split("\n\n")
    return "\n\n".join("\n".join(wrap(paragraph, WIDTH)) for paragraph in paragraphs)


def rows(entries: Iterable[tuple[str, str]], column: int = 30) -> Iterator[str]:
    """Yield two columns: what to type, and from ``column`` on what it does."""
    for left, right in entries:
        lines = wrap(right, WIDTH - column) or [""]
        if len(left) > column - 4:
            yield f"  {left}"
        else:
            yield f"  {left:<{column - 2}}{lines.pop(0)}".rstrip()
        yield from (" " * column + line for line in lines)


def row(flag: click.Option, formats: tuple[str, ...] = ()) -> tuple[str, str]:
    """The names of a flag with what it takes, and what it does."""
    names = ", ".join(flag.opts) if len(flag.opts) > 1 else f"    {flag.opts[0]}"
    more = ("jsonpath=TEMPLATE", "custom-columns=SPEC") if "json" in formats else ()
    text = flag.help or f"One of {', '.join((*formats, *more))}."
    return (names if flag.is_flag else f"{names} {flag.metavar}"), text
