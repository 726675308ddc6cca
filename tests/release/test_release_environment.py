"""Which Python is frozen, and what is said if there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from release import environment


def python(folder: Path, name: str, code: int) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\nexit {code}\n")
    path.chmod(0o755)
    return path


def test_the_one_that_is_named_or_none(tmp_path: Path):
    fit, unfit = python(tmp_path, "fit", 0), python(tmp_path, "unfit", 1)
    assert environment.interpreter({"PYTHON_DIST": str(fit)}) == str(fit)
    for name in (str(unfit), str(tmp_path / "none")):
        with pytest.raises(SystemExit, match=f"of {name} none is a Python >= 3.11"):
            environment.interpreter({"PYTHON_DIST": name})


def test_the_first_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(python(tmp_path, "ours", 1)))
    python(tmp_path, "python3.13", 1)
    python(tmp_path, "python3.14", 0)
    assert environment.interpreter({}) == str(tmp_path / "python3.14")
    python(tmp_path, "python3.13", 0)
    assert environment.interpreter({}) == str(tmp_path / "python3.13")


def test_what_fails_is_shown(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="ended with 3"):
        environment.run([sys.executable, "-c", "import sys\nprint('why')\nsys.exit(3)"])
    assert capsys.readouterr().err == "why\n\n"
