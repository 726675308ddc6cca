"""``scripts/test.py``: what it ends with, and what it runs again.

It ends with 1 if a part failed.  Up to three tests of a part that fail while others load the machine get a run of their
own, and are named.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts import test as script

CODE = """
import json, pathlib, sys
if "--last-failed" in sys.argv:
    sys.exit({alone})
cache = [word.removeprefix("cache_dir=") for word in sys.argv if word.startswith("cache_dir=")]
lastfailed = pathlib.Path(cache[0], "v", "cache", "lastfailed")
lastfailed.parent.mkdir(parents=True)
lastfailed.write_text(json.dumps(dict.fromkeys({failed}, True)))
print("SKIPPED [1] for a reason\\n3 passed, 2 deselected")
sys.exit({code})
"""


def run(monkeypatch: pytest.MonkeyPatch, mode: str, *, code: int = 0, failed: str = "", alone: int = 0) -> int:
    def part(name: str, folder: Path, _arguments: object) -> script.Part:
        (folder / name).mkdir()
        of_this = code if name == "program" else 0
        text = CODE.format(alone=alone, failed=failed.split(), code=of_this)
        command = [sys.executable, "-c", text, f"cache_dir={folder / name / 'cache'}"]
        return script.Part(name, command, folder / name, again=[*command, "--last-failed"])

    monkeypatch.setattr(script, "pytest", part)
    monkeypatch.setattr(script, "checks", lambda folder: part("checks", folder, ()))
    monkeypatch.setattr(script, "export_control_plane", lambda: None)
    return script.main(mode)


@pytest.mark.parametrize("mode", ["short", "rest"])
@pytest.mark.parametrize("code", [0, 1, 2, 4])
def test_the_code_says_whether_a_part_failed(monkeypatch: pytest.MonkeyPatch, capsys, mode: str, code: int):
    assert run(monkeypatch, mode, code=code, failed="a b c d") == int(code != 0)
    said = capsys.readouterr().out
    assert ("program   FAILED" in said) == (code != 0)
    assert "screens   passed" in said and "SKIPPED [1] for a reason" in said


@pytest.mark.parametrize(
    ("failed", "alone", "code"), [("a", 0, 0), ("a b c", 0, 0), ("a", 1, 1), ("a b c d", 0, 1), ("", 0, 1)]
)
def test_a_few_that_fail_beside_others_are_run_alone(
    monkeypatch: pytest.MonkeyPatch, capsys, failed: str, alone: int, code: int
):
    assert run(monkeypatch, "short", code=1, failed=failed, alone=alone) == code
    assert ("UNSTABLE" in capsys.readouterr().out) == (code == 0)


def test_what_was_not_run_is_counted(monkeypatch: pytest.MonkeyPatch, capsys):
    run(monkeypatch, "short")
    assert (
        "Not run: 10 cases, and the tests on real servers (tests/e2e). All of it: make test-all"
        in capsys.readouterr().out
    )


def test_every_folder_of_tests_is_in_one_part(tmp_path: Path):
    named = (*script.SCREENS, *script.PROGRAM, *script.HOSTILE, *script.PLANES)
    assert len(named) == len(set(named))
    assert [name for name in named if not (script.ROOT / name).is_dir()] == []
    rest = next(part for part in script.parts("short", tmp_path) if part.name == "answers")
    assert {f"--ignore={name}" for name in named} <= set(rest.command)
