"""``kubectl kres help`` and ``kubectl kres options``."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

import click

from kubectl_kres import page_address
from kubectl_kres.cli.args.options import CONNECTION, GLOBAL, Options
from kubectl_kres.cli.command import Command, row, rows
from kubectl_kres.errors import UsageError
from kubectl_kres.provenance.advice import advice_about
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.render.text.line import draw, labelled_lines, wrap_text

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


_WIDTH = 80
_EDIT = "kubectl kres explain TYPE/NAME prints the edit for an object that is refused"


def is_code(word: str) -> bool:
    """Return whether a word looks like a code, as ``quota/exceeded`` or ``KRES101``; ``codes`` names them all."""
    return word == "codes" or "/" in word or word.upper().startswith("KRES")


def code_lines(word: str) -> Iterator[str]:
    """Yield what a code means and what to do, or all codes. Raises UsageError for one that does not exist."""
    from kubectl_kres.reports.check.check import BY_CODE

    if word == "codes":
        yield from (f"{code:<40} {rule.title}" for code, rule in RULES.items())
        yield from (f"{code:<40} {rule.title}" for code, rule in BY_CODE.items())
    elif word in RULES:
        yield from _rule_lines(word)
    elif word.upper() in BY_CODE:
        check_rule = BY_CODE[word.upper()]
        yield from wrap_text(f"{check_rule.code}: {check_rule.title}", _WIDTH, rest="  ")
        about = f"{check_rule.severity}. {check_rule.reason}"
        texts = {"": about, "fix": check_rule.remedy, "page": f"{page_address('docs/check.md')} has examples"}
        yield from _labelled(texts)
    else:
        near = difflib.get_close_matches(word, [*RULES, *BY_CODE], 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else "kubectl kres help codes lists them"
        raise UsageError(f'there is no code "{word}"', hint=hint)


def _rule_lines(code: str) -> Iterator[str]:
    rule = RULES[code]
    yield from wrap_text(f"{code}: {rule.title}", _WIDTH, rest="  ")
    gate = f", behind the feature gate {rule.gate}" if rule.gate else ""
    fix = rule.general_fix
    page = edit = ""
    if rule.refuses and not fix:
        advice = advice_about(code)
        fix, page, edit = advice.text, advice.runbook, _EDIT
    texts = {"fix": fix, "next": edit, "page": page_address(f"docs/runbooks/{page}.md") if page else ""}
    yield from _labelled({**texts, "source": f"{rule.source}{gate}"})


def _labelled(texts: dict[str, str]) -> Iterator[str]:
    for label, text in texts.items():
        if text:
            yield from (draw(line, color=False) for line in labelled_lines(label, text, _WIDTH))
