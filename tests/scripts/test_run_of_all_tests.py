"""``scripts/test`` ends with the code of the first of its two runs that failed, and with 0 if none did."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "test"
PYTHON = """#!/bin/sh
case "$*" in
  *build.py*) echo /assets ;;
  *--ignore=tests/tui*) exit {rest} ;;
  *) exit {screens} ;;
esac
"""


@pytest.mark.parametrize(("rest", "screens", "code"), [(0, 0, 0), (0, 4, 4), (3, 0, 3), (3, 4, 3)])
def test_the_code_is_that_of_the_tests(tmp_path: Path, rest: int, screens: int, code: int):
    python = tmp_path / "python"
    python.write_text(PYTHON.format(rest=rest, screens=screens))
    python.chmod(0o755)
    left = set(tmp_path.iterdir())
    done = subprocess.run(
        ["sh", SCRIPT, python], env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (code, b"")
    assert set(tmp_path.iterdir()) == left
