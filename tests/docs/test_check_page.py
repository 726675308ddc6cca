"""The rules of docs/check.md are those of the program; KRES_GOLDEN=write rewrites the page."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from check.samples import example
from golden.kept import compare

from kubectl_kres.reports.check.check import RULES
from kubectl_kres.reports.check.context import Rule

PAGE = Path(__file__).parents[2] / "docs" / "check.md"
MARK = "<!-- made from kubectl_kres/reports/check"


def lines(rule: Rule) -> Iterator[str]:
    yield from ("", f"### {rule.code}: {rule.title}", "", f"**{rule.severity}**. {rule.reason}", "")
    failing, passing = (example(rule.code, side).strip().split("\n") for side in ("failing", "passing"))
    yield from (f"Fix: {rule.remedy}", "", "Found in:", "", "```yaml", *failing, "```", "")
    # The first two lines of a difference name the files.
    changed = [line for line in [*unified_diff(failing, passing, lineterm="", n=0)][2:] if not line.startswith("@@")]
    if len(" ".join(changed)) < len(" ".join(passing)):
        yield from ("Not found with this change:", "", "```diff", *changed, "```")
    else:
        yield from ("Not found in:", "", "```yaml", *passing, "```")


def table() -> Iterator[str]:
    yield from ("", "| code | severity | what |", "| --- | --- | --- |")
    yield from (f"| [{rule.code}](#{anchor(rule)}) | {rule.severity} | {rule.title} |" for rule in RULES)


def anchor(rule: Rule) -> str:
    """As Markdown's renderers make it of a heading."""
    text = f"{rule.code}-{rule.title}".lower().replace(" ", "-")
    return "".join(one for one in text if one.isalnum() or one in "-_")


def test_the_page_has_the_rules_as_they_are():
    head, mark, rest = PAGE.read_text().partition(MARK)
    assert mark
    made = [*table(), *(line for rule in RULES for line in lines(rule)), ""]
    compare(PAGE, f"{head}{mark}{rest.partition(chr(10))[0]}\n" + "\n".join(made))
