"""``kubectl kres help`` and ``kubectl kres options``."""

from __future__ import annotations

import click

from kubectl_kres.cli.args.options import CONNECTION, GLOBAL, Options
from kubectl_kres.cli.command import Command, row, rows

_SETTINGS = """\
What counts where no flag and no variable of the environment says otherwise can
be written to $XDG_CONFIG_HOME/kubectl-kres/config.toml (without that variable:
~/.config/kubectl-kres/config.toml, on Windows below %APPDATA%):

  [output]
  color = "auto"      # always, never

  [tui]
  theme = "nord"      # as --theme
  ascii = false       # true: as --ascii
  mouse = true        # false: as --no-mouse
  aliases = { mine = "pods shop" }   # words for what can be typed behind :
  hotkeys = { f2 = "quotas" }        # f1 to f12
  columns = { claims = ["NAME", "SHORT BY"] }  # of lists, by their headings

  [check]
  select = []           # as --select
  ignore = ["KRES405"]  # as --ignore
  fail_on = "warning"   # as --fail-on"""


def _help(_options: Options, words: tuple[str, ...]) -> int:
    """The help of the command that is named, or of all; what a code means."""
    from kubectl_kres.cli.commands.code_help import code_lines, is_code

    if words and is_code(words[0]):
        for word in words:
            for line in code_lines(word):
                click.echo(line)
        return 0
    ctx = click.get_current_context().find_root()
    program = ctx.command
    assert isinstance(program, click.Group)
    if words:
        name, command, _ = program.resolve_command(ctx, list(words[:1]))
        assert command is not None
        ctx = click.Context(command, info_name=name, parent=ctx)
    page = ctx.command
    click.echo(page.whole_help(ctx) if isinstance(page, Command) else page.get_help(ctx))
    return 0


def _options(_options: Options, _words: tuple[str, ...]) -> int:
    """The flags that every command takes."""
    click.echo("The following flags can be passed to any command:\n")
    click.echo("\n".join(rows(row(flag) for flag in (*CONNECTION, *GLOBAL))))
    click.echo(f"\n{_SETTINGS}")
    return 0


COMMANDS = {
    "help": Command(
        "help",
        _help,
        text="Print the help of a command, or what a code means: of a rule, or of a finding of check.",
        examples="""
            # What does explain take?
            kubectl kres help explain

            # What does the code of a refusal mean, what is to be done?
            kubectl kres help quota/exceeded

            # All codes
            kubectl kres help codes
            """,
        usage="[COMMAND | CODE | codes]",
        connects=False,
    ),
    "options": Command(
        "options",
        _options,
        text="List the flags that every command takes.",
        examples="""
            # All of them
            kubectl kres options
            """,
        connects=False,
    ),
}
