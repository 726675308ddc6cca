"""The user's settings: where they are, what wins over what, and each fault in a line that says where it is."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.apiserver import LIMITS, pod
from cli.running import Kres
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.cli import settings
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.commands import quota, tui
from kubectl_kres.cli.config_file import CheckSettings, Output, Tui, find_statement_line
from kubectl_kres.cli.output import printer
from kubectl_kres.cli.program import commands
from kubectl_kres.errors import UsageError
from kubectl_kres.tui.themes import NAMES

ROOT = Path(__file__).parents[2]
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes the file and returns its path."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "kubectl-kres" / "config.toml"

    def written(text: str | bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return written


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch, kres: Kres) -> Callable[[str], Options]:
    """The options that ``tui`` or ``quota`` are run with, on a terminal."""
    got: list[Options] = []
    monkeypatch.setattr(tui.command, "run", lambda options, _: got.append(options) or 0)
    monkeypatch.setattr(quota.command, "run", lambda options, _: got.append(options) or 0)
    monkeypatch.setattr(printer, "is_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm")

    def run(text: str) -> Options:
        assert kres(text)[0] == 0
        return got.pop()

    return run


@pytest.mark.parametrize(
    ("environ", "windows", "found"),
    [
        ({"XDG_CONFIG_HOME": "/x"}, False, Path("/x") / settings.NAME),
        ({"XDG_CONFIG_HOME": "/x", "APPDATA": "/a"}, True, Path("/x") / settings.NAME),
        ({}, False, Path("/home/eve/.config") / settings.NAME),
        ({"XDG_CONFIG_HOME": ""}, False, Path("/home/eve/.config") / settings.NAME),
        ({"XDG_CONFIG_HOME": "here"}, False, Path("/home/eve/.config") / settings.NAME),
        ({"APPDATA": "/a"}, True, Path("/a") / settings.NAME),
        ({}, True, None),
    ],
)
def test_where_it_is(environ: dict[str, str], windows: bool, found: Path | None, monkeypatch):
    monkeypatch.setenv("HOME", "/home/eve")
    assert settings.location(environ, windows=windows) == found


def test_without_a_home_there_is_none(monkeypatch):
    monkeypatch.setattr(os.path, "expanduser", lambda text: text)
    assert settings.location({}, windows=False) is None


@pytest.mark.parametrize(
    ("section", "words", "environ", "colored"),
    [
        ("always", "", {}, "always"),
        ("never", "", {}, "never"),
        ("auto", "", {}, "auto"),
        ("always", "", {"NO_COLOR": ""}, "auto"),
        ("always", "", {"TERM": "dumb"}, "auto"),
        ("always", "--color never", {}, "never"),
        ("always", "--color auto", {}, "auto"),
        ("never", "--color=always", {"NO_COLOR": "1"}, "always"),
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_colour(section: str, words: str, environ: dict[str, str], colored: str, before, seen, write, monkeypatch):
    write(f'[output]\ncolor = "{section}"\n')
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert seen(f"{words} quota --demo" if before else f"quota --demo {words}").color == colored


@pytest.mark.parametrize(
    ("text", "words", "theme", "ascii_only", "mouse"),
    [
        ("", "", "", False, True),
        ('theme = "nord"\nascii = true\nmouse = false', "", "nord", True, False),
        ('theme = "nord"\nascii = true\nmouse = false', "--theme x --ascii=false --no-mouse=false", "x", False, True),
        ("ascii = false\nmouse = true", "--ascii --no-mouse", "", True, False),
        ('theme = ""', "", "", False, True),
    ],
)
def test_the_terminal_interface(text: str, words: str, theme: str, ascii_only: bool, mouse: bool, seen, write):
    path = write(f"# mine\n[tui]\n{text}\n")
    found = seen(f"tui --demo {words}")
    assert (found.theme, found.ascii, not found.no_mouse) == (theme, ascii_only, mouse)
    assert found.theme_place == (f"{path}:3" if theme == "nord" else "")


def test_words_and_keys_of_the_user(seen, write):
    write('[tui.aliases]\nmine = "pods checkout"\n[tui.hotkeys]\nf2 = "mine"\n')
    found = seen("tui --demo")
    assert (found.aliases, found.hotkeys) == ((("mine", "pods checkout"),), (("f2", "mine"),))


@pytest.mark.parametrize(
    ("file", "words", "environ", "monochrome"),
    [
        ("", "", {}, False),
        ("", "", {"NO_COLOR": ""}, True),
        ("", "--theme nord", {"NO_COLOR": "1"}, False),
        ("", "--theme nord --color never", {}, True),
        ("", "--color always", {"NO_COLOR": "1"}, False),
        ('[tui]\ntheme = "nord"', "", {"NO_COLOR": "1"}, True),
        ('[tui]\ntheme = "nord"', "", {}, False),
        ('[output]\ncolor = "never"', "", {}, True),
        ('[output]\ncolor = "never"', "--theme nord", {}, False),
    ],
)
def test_no_colours_on_full_screen(
    file: str, words: str, environ: dict[str, str], monochrome, seen, write, monkeypatch
):
    write(file)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    options = seen(f"tui --demo {words}")
    assert tui._monochrome(options) is monochrome
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("NO_COLOR", environ.get("NO_COLOR", "x"))
    tui._tell_textual(monochrome=monochrome)
    assert ("NO_COLOR" in os.environ) is monochrome


@pytest.mark.parametrize(("name", "near"), [("nrd", ", the nearest is nord"), ("0", "")])
def test_a_theme_that_does_not_exist(name: str, near: str, seen, write):
    """It is known where the themes are: there the file is named as for other faults."""
    path = write(f'tui.theme = "{name}"')
    with pytest.raises(UsageError) as caught:
        tui._theme(seen("tui --demo"), monochrome=False)
    assert caught.value.message == f'{path}:1: tui.theme: no theme "{name}"{near}'
    assert caught.value.hint == ("" if near else f"themes: {', '.join(NAMES)}")


def test_columns_of_the_user(seen, write):
    path = write('[tui.columns]\nclaims = ["NAME", "waits"]\n')
    options = seen("tui --demo")
    assert options.columns == (("claims", ("NAME", "waits"), f"{path}:2"),)
    tui._look_at_columns(options)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[tui.columns]\n\nclaim = ["NAME"]', '3: tui.columns: no list "claim", the nearest is claims'),
        (
            '[tui]\ncolumns = { claims = ["NAME", "WIATS"] }',
            '2: tui.columns: claims has no column "WIATS", the nearest is waits',
        ),
    ],
)
def test_columns_that_do_not_exist(text: str, why: str, seen, write):
    """As for themes: they are known where the lists are."""
    path = write(text)
    with pytest.raises(UsageError) as caught:
        tui._look_at_columns(seen("tui --demo"))
    assert caught.value.message == f"{path}:{why}"


FAULTS = {
    "section": ("\n[tuii]\nascii = true", '2: unknown section "tuii", the nearest is tui'),
    "no section near": ("[zzz]", '1: unknown section "zzz", known are tui, output, check'),
    "key": ('[tui]\n\nthem = "nord"', '3: unknown key "tui.them", the nearest is tui.theme'),
    "no key near": ("[output]\nzzz = 1", '2: unknown key "output.zzz", known are color'),
    "key outside": ('theme = "nord"', '1: unknown key "theme", the nearest is tui.theme'),
    "key of another section": ('[tui]\ncolor = "never"', '2: unknown key "tui.color", the nearest is output.color'),
    "dotted": ("tui.ascii = false\ntui.mouze = false", '2: unknown key "tui.mouze", the nearest is tui.mouse'),
    "inline": ('output = {\tcolour = "never" }', '1: unknown key "output.colour", the nearest is output.color'),
    "quoted": ('["output"]\n"co\\u006Cour" = 1', '2: unknown key "output.colour", the nearest is output.color'),
    "switch": ('[tui]\nmouse = "no"', '2: tui.mouse: true or false is expected, not "no"'),
    "hotkey": ('[tui.hotkeys]\nf2 = "pods"\ns = "pods"', '3: tui.hotkeys: a key from f1 to f12 is expected, not "s"'),
    "alias": ("[tui.aliases]\nmine = 3", "2: tui.aliases.mine: text in quotes is expected, not 3"),
    "no aliases": ("[tui]\naliases = 3", "2: tui.aliases: a section is expected, not 3"),
    "columns": ("[tui.columns]\nclaims = 3", "2: tui.columns.claims: a list is expected, not 3"),
    "no column": ("[tui.columns]\nclaims = []", "2: tui.columns.claims: at least one name is expected, not a list"),
    "number": ("[tui]\nascii = 1", "2: tui.ascii: true or false is expected, not 1"),
    "text": ("[tui]\ntheme = true", "2: tui.theme: text in quotes is expected, not true"),
    "long": (f'[tui]\nmouse = "{"x" * 99}"', f'2: tui.mouse: true or false is expected, not "{"x" * 39}…'),
    "table for a value": ("[tui.theme]\nx = 1", "1: tui.theme: text in quotes is expected, not a section"),
    "value for a table": ("tui = 3", "1: tui: a section is expected, not 3"),
    "list for a table": ("[[tui]]", "1: tui: a section is expected, not a list"),
    "word": (
        '[output]\r\n# "always"\r\ncolor = "alway"\r\n',
        '3: output.color: one of auto, always, never is expected, not "alway", the nearest is always',
    ),
    "after many lines": (
        '[tui]\ntheme = """\n[output]\ncolor = 1\n"""\n[ output ]  # here\ncolor = """\n"""',
        '7: output.color: one of auto, always, never is expected, not ""',
    ),
    "behind a mark": ("\ufeff[tui]\nascii = 0", "2: tui.ascii: true or false is expected, not 0"),
    "hostile": ('"a\\u001b[31m\\n" = 1', '1: unknown key "a\ufffd[31m\ufffd", known are tui, output, check'),
    "value left out": ("[tui]\ntheme =\n", "2:8: no TOML: Invalid value"),
    "cut off": ("[tui]\nascii = tr", "2:9: no TOML: Invalid value"),
    "open at the end": ("[tui]\ntheme = '''x\n\n", "2:13: no TOML: Expected \"'''\""),
    "twice": ("[tui]\n[output]\n[tui]", "3:5: no TOML: Cannot declare ('tui',) twice"),
    "digits": (f"x = {'1' * 5000}", "no TOML: Exceeds the limit (4300 digits) for integer string conversion: value"),
    "deep": (f"x = {'[' * 20_000}", "no TOML: nested too deep"),
    "long file": ("#" * 70_000, "over 64 KiB: too long for a file of settings"),
    "no text": (b'[tui]\ntheme = "\xff"', "2:10: not UTF-8 text"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_one_line(name: str, kres: Kres, write):
    text, line = FAULTS[name]
    path = write(text)
    code, out, err = kres("quota --demo")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {path}:{'' if line[0].isdigit() else ' '}{line}"), err
    assert err.count("\n") == 1
    assert name == "digits" or err.endswith(f"{line}\n")


def test_several_faults_in_the_order_of_the_file(kres: Kres, write):
    path = write("[output]\ncolor = 1\n[tui]\nzzz = 1\nmouse = 1\n[more]\n")
    _, _, err = kres("quota --demo")
    assert re.findall(r":(\d+): (?:unknown \w+ )?\"?([\w.]+)", err) == [
        ("2", "output.color"), ("4", "tui.zzz"), ("5", "tui.mouse"), ("6", "more"),
    ]  # fmt: skip
    assert all(line.startswith(f"error: {path}:") for line in err.splitlines())


@pytest.mark.parametrize("folder", [True, False])
def test_a_file_that_cannot_be_read(folder: bool, kres: Kres, write, monkeypatch):
    path = write("")
    if folder:
        path.unlink()
        path.mkdir()
    else:
        # root may read everything
        monkeypatch.setattr(Path, "open", refuse)
    code, out, err = kres("quota --demo")
    why = "is a directory" if folder else "permission denied"
    assert (code, out, err) == (2, "", f"error: {path}: {why}\n")


def test_a_home_of_somebody_else_is_none(write, monkeypatch):
    """As of a container that runs with root's HOME and without its rights."""
    write("x =")
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(os.path, "exists", lambda _: False)
    assert settings.apply_settings(Options(), ()) == Options()


def refuse(*_: object, **__: object) -> None:
    raise PermissionError(errno.EACCES, "Permission denied")


@pytest.mark.parametrize("case", ["absent", "empty", "no folder", "comments"])
def test_a_file_that_says_nothing_changes_nothing(case: str, kres: Kres, write, tmp_path: Path):
    wanted = kres("quota --demo")
    path = write("# [tui]\n" if case == "comments" else "")
    if case in {"absent", "no folder"}:
        path.unlink()
    if case == "no folder":
        path.parent.rmdir()
        path.parent.write_text("a file in its place")
    assert kres("quota --demo") == wanted
    assert wanted.code == 0


def test_colour_of_real_output(kres: Kres, file, write):
    text = f"explain --offline -f {file(LIMITS, pod('web'))}"
    plain = kres(text).out
    write('[output]\ncolor = "always"')
    assert kres(text).out == kres(f"{text} --color always").out != plain
    assert kres(f"{text} --color never").out == plain
    assert json.loads(kres(f"{text} -o json").out)["kind"] == "Explanation"


#: What works with a bad file, too: it needs none of it, or says what to write.
UNCONFIGURED = {"help", "options", "schema qos", "version --client", "completion", *(f"{one} -h" for one in commands())}


@pytest.mark.parametrize("words", sorted(UNCONFIGURED))
def test_what_does_not_read_it(words: str, kres: Kres, write):
    write("x =")
    _, _, err = kres(words)
    assert "config.toml" not in err


def test_completion_does_not_read_it(write):
    write("x =")
    script = "import sys; from kubectl_kres.cli.main import entry; sys.exit(entry())"
    words = [sys.executable, "-c", script, "__complete", "quota", "--demo", "--"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--recount" in done.stdout


@pytest.mark.parametrize("exists", [True, False])
def test_what_it_costs_is_loaded_only_if_it_exists(exists: bool, write):
    if exists:
        write("[tui]")
    script = (
        "import sys; from kubectl_kres.cli.main import entry; sys.argv = ['kubectl-kres', *sys.argv[1:]]; entry(); "
        "print(*sys.modules, file=sys.stderr)"
    )
    words = [sys.executable, "-c", script, "quota", "--demo"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True, cwd=ROOT)
    assert {"tomllib", "pydantic"} & set(done.stderr.split()) == ({"tomllib", "pydantic"} if exists else set())


KEYS = st.sampled_from(["a", "b", '"c d"', "'e.f'"])
VALUES = st.sampled_from(["1", '"""\n[a]\nb = 1\n"""', "[\n1,\n# a\n2\n]", "'x'", "{ a = 1 }", "'''\nb = 2'''"])
LINES = st.one_of(
    st.just(""),
    st.just("# [a]"),
    st.tuples(st.lists(KEYS, min_size=1, max_size=2), VALUES).map(lambda one: f"{'.'.join(one[0])} = {one[1]}"),
    st.lists(KEYS, min_size=1, max_size=2).map(lambda names: f"[{'.'.join(names)}]"),
    KEYS.map(lambda name: f"[[{name}]]"),
)


@given(st.lists(LINES, max_size=8))
def test_the_line_of_a_key_is_the_first_whose_end_brings_it(lines: list[str]):
    """Against the definition: the statement with which a reader of the beginning first finds the key."""
    text = "\n".join(lines)
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    for path in paths(whole):
        begins, wanted = 1, 0
        for count, line in enumerate(lines):
            if path in paths(tomllib.loads("\n".join(lines[: count + 1]))):
                wanted = begins
                break
            begins += line.count("\n") + 1
        assert find_statement_line(text, path) == wanted > 0, (text, path)


def paths(document: object, before: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found = {before} if before else set()
    if isinstance(document, dict):
        found.update(*(paths(value, (*before, key)) for key, value in document.items()))
    return found


def test_the_list_of_flags_and_the_page_name_each_key(kres: Kres):
    shown = kres("options").out.partition("config.toml")[2]
    page = (ROOT / "docs" / "configuration.md").read_text()
    keys = {"tui": set(Tui.model_fields), "output": set(Output.model_fields), "check": set(CheckSettings.model_fields)}
    text = shown[shown.index("  [output]") :]
    assert {name: set(found) for name, found in tomllib.loads(text).items()} == keys
    example = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert example is not None
    assert {name: set(found) for name, found in tomllib.loads(example[1]).items()} == keys
