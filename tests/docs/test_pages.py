"""Every console example of the README and of docs/ is what the program prints; KRES_GOLDEN=write rewrites them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from cli.running import is_plain
from golden.kept import WRITING

from kubectl_kres.cli.main import entry
from kubectl_kres.cli.program import Program

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLE = re.compile(r"```console\n\$ kubectl kres (?P<command>[^\n]*)\n(?P<output>.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)(?P<file>[^)#]+)")
#: Exit code of a command that finds a difference.
DIFFERS = 1


@pytest.mark.parametrize(
    ("page", "command"),
    [
        pytest.param(page, match["command"], id=f"{page.name}: {match['command']}")
        for page in PAGES
        for match in EXAMPLE.finditer(page.read_text())
    ],
)
def test_example(page: Path, command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["kubectl-kres"])
    assert entry(shlex.split(command)) == (DIFFERS if command.startswith("diff") else 0)
    printed, text = capsys.readouterr().out, page.read_text()
    if WRITING:
        match = next(one for one in EXAMPLE.finditer(text) if one["command"] == command)
        page.write_text(text[: match.start("output")] + printed + text[match.end("output") :])
    shown = {match["command"]: match["output"] for match in EXAMPLE.finditer(page.read_text())}
    assert shown[command] == printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_is_one_of_ours(page: Path):
    assert page.read_text().count("```console") == len(EXAMPLE.findall(page.read_text()))


#: Commands in other blocks, which need a cluster: as far as words and flags go they are right.
TYPED = [
    pytest.param(words, id=f"{page.name}: {words}")
    for page in PAGES
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
    for words in re.findall(r"^kubectl kres ([^|\n#&]*[^|\n#&\s])", block, re.MULTILINE)
]


@pytest.mark.parametrize("words", TYPED)
def test_what_is_to_be_typed_is_understood(words: str):
    name, *rest = shlex.split(words)
    program = Program()
    with program.make_context("kubectl-kres", [name, *rest]) as context:
        found, command, arguments = program.resolve_command(context, [name, *rest])
        assert found is not None and command is not None
        command.make_context(found, arguments, parent=context)


def test_what_is_to_be_typed_is_the_same_in_sh_bash_and_zsh():
    """An interactive zsh takes what stands behind # as arguments, and an unquoted bracket as a pattern of files."""
    blocks = re.compile(r"```sh\n(.*?)```|```console\n\$ ([^\n]*)\n", re.DOTALL)
    typed = [
        line for page in PAGES for match in blocks.findall(page.read_text()) for line in "".join(match).splitlines()
    ]
    assert len(typed) > 70
    assert [line for line in typed if not line.startswith("#") and not is_plain(line)] == []


def test_pages_link_to_files_that_exist():
    links = [(page, match["file"]) for page in PAGES for match in LINK.finditer(page.read_text())]
    assert len(links) > 10
    assert [f"{page.name}: {file}" for page, file in links if not (page.parent / file).exists()] == []


def test_all_files_of_examples_on_tekton_are_shown():
    files = [path.relative_to(ROOT) for path in (ROOT / "docs" / "examples" / "tekton").iterdir()]
    text = (ROOT / "docs" / "tekton-examples.md").read_text()
    assert len(files) == 5
    assert [str(file) for file in files if str(file) not in text] == []
