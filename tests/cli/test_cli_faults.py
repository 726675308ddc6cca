"""What breaks around the program: one object of many, the home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.apiserver import Api, Said, pod
from cli.running import Kres

ROOT = Path(__file__).parents[2]
MANY = 300


@pytest.fixture
def one_bad(api: Api) -> Api:
    """One pod of many has a quantity that is none, and one a container list that is a number."""
    api.objects += [pod(f"p{number:03}", "1Mi") for number in range(MANY)]
    api.objects += [pod("bad", "much"), {**pod("odd"), "spec": {"containers": 7}}]
    return api


@pytest.mark.parametrize(("words", "code"), [("qos -A --summary", 4), ("qos -A", 4), ("explain pods -A", 4)])
def test_the_rest_is_counted(kres: Kres, one_bad: Api, words: str, code: int) -> None:
    result = kres(words)
    assert result.code == code
    text = result.out + result.err
    assert "error: left out, since it cannot be decoded: pods shop/odd: Expected `array | null`" in result.err
    assert "bad" in text
    assert str(MANY) in result.out
    assert "Traceback" not in text


def test_a_home_that_cannot_be_written(api: Api, tmp_path: Path) -> None:
    """Nothing is kept there: no cache, no history."""
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    api.objects.append(pod("web", "1Mi"))
    result = subprocess.run(
        [sys.executable, "-m", "kubectl_kres", "explain", "pod/web"],
        env={**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("words", ["snapshot --out s.kres", "explain pods", "qos -A"])
def test_a_server_that_asks_to_wait_is_told_of_once(kres: Kres, api: Api, words: str) -> None:
    status = {"kind": "Status", "message": "slow down", "reason": "TooManyRequests", "code": 429}
    api.faults["pods"] = Said(429, status, headers={"Retry-After": "1"})
    result = kres(words)
    told = "the server is busy (429) and asks to wait 1 s between tries; reading goes on\n"
    assert result.err.count(told) == 1
    assert "Error from server (TooManyRequests): slow down" in result.err
    assert "the server asks to wait 1 seconds" in result.err
    assert result.code == (4 if words.startswith("snapshot") else 3)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (409, "Conflict"),
        (410, "Expired"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ],
)
@pytest.mark.parametrize("words", ["explain pod/web", "explain pods", "diff pod/web", "quota", "qos -A"])
def test_a_refusal_keeps_reason_and_hint(kres: Kres, api: Api, words: str, code: int, reason: str) -> None:
    """The same words whichever command meets it."""
    status = {"kind": "Status", "message": "said no", "reason": reason, "code": code}
    plural = "resourcequotas" if words == "quota" else "pods"
    api.faults[plural] = Said(code, status, headers={"Retry-After": "77"})
    result = kres(words)
    assert result.code == 3
    assert f"Error from server ({reason}): said no\n" in result.err
    assert "the server asks to wait 77 seconds" in result.err
