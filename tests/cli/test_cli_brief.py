"""``-o brief``: outcome, cause, remedy and next command, in at most five lines each."""

from __future__ import annotations

import time

import pytest
from cli.apiserver import Api, deployment
from cli.running import Kres


def test_a_refused_workload(kres: Kres):
    code, out, err = kres("explain --demo deploy/checkout -n checkout -o brief")
    lines = out.splitlines()
    assert (code, err, len(lines)) == (0, "", 5)
    assert lines[0].startswith("refused: checkout/Deployment/checkout: ") and "requests.memory" in lines[0]
    assert [line.partition(":")[0].strip() for line in lines[1:]] == ["remedy", "how", "or", "next"]
    assert lines[4] == "  next: kubectl kres quota team -n checkout --by workload"


def test_a_command_that_can_be_pasted(kres: Kres, api: Api):
    api.objects.append(deployment("web", "2Gi"))
    lines = kres("explain deploy/web -n shop -o brief").out.splitlines()
    assert len(lines) <= 5
    assert any(line.startswith("   run: kubectl ") for line in lines)


@pytest.mark.parametrize("words", ["deployments -n checkout", "deployments -A", "pods -n shop"])
def test_many(kres: Kres, words: str):
    blocks = kres(f"explain --demo {words} -o brief").out.rstrip("\n").split("\n\n")
    assert len(blocks) > 1
    assert max(len(block.splitlines()) for block in blocks) <= 5


@pytest.mark.parametrize("words", ["ns/shop", "claim/sweep -n ml-training", "deploy/cart -n shop"])
def test_what_has_less_to_say(kres: Kres, words: str):
    code, out, _ = kres(f"explain --demo {words} -o brief")
    assert code == 0 and 1 <= len(out.splitlines()) <= 5


def test_files_and_exit_codes(kres: Kres, file):
    path = file(deployment("web", "2Gi"))
    assert kres(f"explain --demo -n shop -f {path} -o brief --exit-code").code in {0, 1}
    assert kres("explain --demo deploy/checkout -n checkout -o brief --exit-code").code == 1


@pytest.mark.parametrize("flag", ["--steps", "-c app", "--for app.limits.cpu"])
def test_flags_that_ask_for_more(kres: Kres, flag: str):
    code, _, err = kres(f"explain --demo deploy/checkout -n checkout -o brief {flag}")
    assert code == 2 and "-o brief says no more than five lines" in err


def test_it_costs_no_more_cpu_than_the_whole_answer(kres: Kres):
    """Beside the same answer in full, since the machine may be busy."""
    used: dict[str, list[float]] = {"brief": [], "text": []}
    for _ in range(6):
        for form, times in used.items():
            began = time.process_time()
            kres(f"explain --demo deploy/checkout -n checkout -o {form}")
            times.append(time.process_time() - began)
    # The first of each loads what it needs.
    assert min(used["brief"]) <= min(used["text"]) * 1.3
