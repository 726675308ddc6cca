"""``make test`` ends with the code of the first of its parts that failed, and with 0 if none did.

Up to three tests of a part that fail while the other parts load the machine get a run of their own, and are named.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import run_tests

ROOT = Path(__file__).parents[2]
MAIN = "import run_tests, sys; sys.exit(run_tests.main(sys.argv[1]))"
PYTHON = """#!/bin/sh
case "$*" in
  *build.py*) echo /assets ;;
  *--ignore=tests/tui*) exit {rest} ;;
  *tests/tui*) exit {screens} ;;
  *tests/e2e\\ *) exit {planes} ;;
esac
"""


def run(folder: Path, stub: str) -> subprocess.CompletedProcess[str]:
    """The run of all tests with a program in the place of Python."""
    python = folder / "python"
    python.write_text(stub)
    python.chmod(0o755)
    left = set(folder.iterdir())
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "scripts"), "TMPDIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", MAIN, python], env=env, capture_output=True, text=True, check=False)
    assert set(folder.iterdir()) == left
    return done


@pytest.mark.parametrize(
    ("rest", "screens", "planes", "code"),
    [(0, 0, 0, 0), (0, 4, 0, 4), (3, 0, 0, 3), (3, 4, 5, 5), (0, 0, 5, 5), (3, 4, 0, 4)],
)
def test_the_code_is_that_of_the_tests(tmp_path: Path, rest: int, screens: int, planes: int, code: int):
    done = run(tmp_path, PYTHON.format(rest=rest, screens=screens, planes=planes))
    assert (done.returncode, done.stderr) == (code, "")


#: Of the rest some tests fail; alone they end with a code of their own.
UNSTABLE = """#!/bin/sh
case "$*" in
  *build.py*) echo /assets ;;
  *--last-failed*) exit {alone} ;;
  *--ignore=tests/tui*)
    for word; do case $word in cache_dir=*) cache="${{word#cache_dir=}}/v/cache" ;; esac; done
    mkdir -p "$cache"
    echo '{failed}' >"$cache/lastfailed"
    exit 1 ;;
esac
"""


@pytest.mark.parametrize(
    ("failed", "alone", "code"), [("a", 0, 0), ("abc", 0, 0), ("a", 1, 1), ("abcd", 0, 1), ("", 0, 1)]
)
def test_a_few_that_fail_beside_others_are_run_alone(tmp_path: Path, failed: str, alone: int, code: int):
    record = ", ".join(f'"{test}": true' for test in failed)
    done = run(tmp_path, UNSTABLE.format(failed=f"{{{record}}}", alone=alone))
    assert done.returncode == code, done.stderr
    assert ("UNSTABLE" in done.stderr) == (code == 0)


def test_each_test_is_in_one_part():
    counted = Counter(path for part in run_tests.parts() for path in files_of(part))
    assert counted == dict.fromkeys((ROOT / "tests").rglob("test_*.py"), 1)


def files_of(part: run_tests.Part) -> set[Path]:
    """The files that pytest would collect of a part."""
    ignored = [ROOT / word.partition("=")[2] for word in part.arguments if word.startswith("--ignore=")]
    named = [ROOT / word for word in part.arguments if not word.startswith("-")] or [ROOT / "tests"]
    assert all(path.exists() for path in (*ignored, *named))
    files = (path for where in named for path in ([where] if where.is_file() else where.rglob("test_*.py")))
    return {path for path in files if not any(path.is_relative_to(one) for one in ignored)}
