"""Help texts: golden, in 80 columns, examples before flags, and under the name that the program was called by."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.running import Kres
from golden.kept import compare

from kubectl_kres.cli.program import commands
from kubectl_kres.render.text.line import cells

GOLDEN = Path(__file__).parents[1] / "golden" / "help"
PAGES = {
    "kres": "--help",
    "flags": "options",
    **{name: f"{name} --help" for name in commands()},
    **{f"{name}.whole": f"help {name}" for name in commands()},
}
#: Lines of a page of ``--help`` at most: a screen.
SCREEN = 45


@pytest.mark.parametrize("name", PAGES)
def test_help_pages(kres: Kres, name: str):
    code, out, err = kres(PAGES[name])
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if cells(line) > 80 or line != line.rstrip()] == []
    if name != "flags":
        places = [out.find(head) for head in ("Usage:", "Examples:", "Flags:") if head in out]
        assert places == sorted(places) or name == "kres"
    if not name.endswith(".whole") and name != "flags":
        assert len(out.splitlines()) <= SCREEN
        assert "kubectl kres" in out
    compare(GOLDEN / f"{name}.txt", out)


@pytest.mark.parametrize("text", ["explain -h", "-h explain", "explain --steps -h pod/x", "-n a --help explain"])
def test_every_way_to_ask_for_help(kres: Kres, text: str):
    code, out, err = kres(text)
    assert (code, out, err) == (0, (GOLDEN / "explain.txt").read_text(), "")


@pytest.mark.parametrize("text", ["-h", "help"])
def test_help_without_a_command(kres: Kres, text: str):
    code, out, err = kres(text)
    assert (code, out, err) == (0, (GOLDEN / "kres.txt").read_text(), "")


@pytest.mark.parametrize("text", ["", "-n a", "--"])
def test_without_a_command_and_a_cluster_it_says_what_there_is(kres: Kres, text: str):
    code, out, err = kres(text)
    assert (code, out) == (3, (GOLDEN / "kres.txt").read_text())
    assert err.startswith("error: no kubeconfig")


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        ("/opt/bin/kubectl-kres", "kubectl kres"),
        ("/x/kubectl_kres/__main__.py", "python -m kubectl_kres"),
        ("/usr/bin/kres", "kres"),
    ],
)
def test_the_name_is_that_of_the_call(kres: Kres, called: str, shown: str):
    _, out, _ = kres("diff -h", called=called)
    assert f"Usage:\n  {shown} diff (" in out
    assert f"  {shown} diff -f pod.yaml\n" in out
    _, _, err = kres("diff --zz", called=called)
    assert f"See '{shown} diff --help' for usage." in err


def test_the_list_of_commands_and_the_modules_agree(kres: Kres):
    _, out, _ = kres("")
    listed = [line.split()[0] for line in out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()]
    assert listed == list(commands())


def test_the_version(kres: Kres):
    assert kres("--version").out == kres("-n a --version explain").out != ""
