"""What breaks around the program: one object of many, the home, a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli.apiserver import Api, pod
from cli.running import Kres

ROOT = Path(__file__).parents[2]
MANY = 300


@pytest.fixture
def one_bad(api: Api) -> Api:
    """One pod of many has a quantity that is none, and one a container list that is a number."""
    api.objects += [pod(f"p{number:03}", "1Mi") for number in range(MANY)]
    api.objects += [pod("bad", "much"), {**pod("odd"), "spec": {"containers": 7}}]
    return api


@pytest.mark.parametrize(("words", "code"), [("qos -A --summary", 4), ("qos -A", 2), ("explain pods -A", 4)])
def test_the_rest_is_counted(kres: Kres, one_bad: Api, words: str, code: int) -> None:
    result = kres(words)
    assert result.code == code
    text = result.out + result.err
    assert "error: left out, since it cannot be decoded: pods shop/odd: Expected `array | null`" in result.err
    assert "bad" in text
    assert str(MANY) in result.out
    assert "Traceback" not in text


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "kubectl_kres", *words]


def test_a_home_that_cannot_be_written(api: Api, tmp_path: Path) -> None:
    """Nothing is kept there: no cache, no history."""
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    api.objects.append(pod("web", "1Mi"))
    result = subprocess.run(
        command("explain", "pod/web"),
        env={**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert list(home.iterdir()) == []


def test_sigterm_while_the_server_is_silent(api: Api) -> None:
    asked, over = threading.Event(), threading.Event()

    def silent(path: str) -> None:
        if "/pods" in path:
            asked.set()
            over.wait(60)

    api.before = silent
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command("explain", "pods"), env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert asked.wait(60)
        process.terminate()
        out, err = process.communicate(timeout=60)
        over.set()
    assert (process.returncode, out, err) == (-signal.SIGTERM, "", "")
