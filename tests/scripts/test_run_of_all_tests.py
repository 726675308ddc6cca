"""``scripts/test`` ends with the code of the first of its three runs that failed, and with 0 if none did.

Up to three tests that fail while the other runs load the machine get a run of their own, and are named.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "test"
PYTHON = """#!/bin/sh
case "$*" in
  *build.py*) echo /assets ;;
  *--ignore=tests/tui*) exit {rest} ;;
  *tests/e2e*) exit {planes} ;;
  *) exit {screens} ;;
esac
"""


@pytest.mark.parametrize(
    ("rest", "screens", "planes", "code"),
    [(0, 0, 0, 0), (0, 4, 0, 4), (3, 0, 0, 3), (3, 4, 5, 3), (0, 0, 5, 5), (0, 4, 5, 4)],
)
def test_the_code_is_that_of_the_tests(tmp_path: Path, rest: int, screens: int, planes: int, code: int):
    python = tmp_path / "python"
    python.write_text(PYTHON.format(rest=rest, screens=screens, planes=planes))
    python.chmod(0o755)
    left = set(tmp_path.iterdir())
    done = subprocess.run(
        ["sh", SCRIPT, python], env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (code, b"")
    assert set(tmp_path.iterdir()) == left


#: Of the rest some tests fail; alone they end with a code of their own.
UNSTABLE = """#!/bin/sh
case "$*" in
  *build.py*) echo /assets ;;
  *--last-failed*) exit {alone} ;;
  *--ignore=tests/tui*)
    for word; do case $word in cache_dir=*) cache=${{word#cache_dir=}}/v/cache ;; esac; done
    mkdir -p "$cache"
    for test in {failed}; do echo "  \\"$test\\": true,"; done >"$cache/lastfailed"
    exit 1 ;;
esac
"""


@pytest.mark.parametrize(
    ("failed", "alone", "code"), [("a", 0, 0), ("a b c", 0, 0), ("a", 1, 1), ("a b c d", 0, 1), ("", 0, 1)]
)
def test_a_few_that_fail_beside_others_are_run_alone(tmp_path: Path, failed: str, alone: int, code: int):
    python = tmp_path / "python"
    python.write_text(UNSTABLE.format(failed=failed, alone=alone))
    python.chmod(0o755)
    env = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    done = subprocess.run(["sh", SCRIPT, python], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert ("UNSTABLE" in done.stderr) == (code == 0)
    assert [path.name for path in tmp_path.iterdir()] == ["python"]
