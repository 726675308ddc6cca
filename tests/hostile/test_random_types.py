"""One value of another type anywhere in what makes pods, beside a second object: each command names its place, or
says that the server refuses the object.

KRES_FUZZ: how many files are tried; without it a fixed number. KRES_FUZZ_SEED: the first one.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hostile.random_objects import places, sound

from kubectl_kres.cli.main import entry
from kubectl_kres.model.workload_kinds import WORKLOADS

COUNT = int(os.environ.get("KRES_FUZZ", "") or 60)
FIRST = int(os.environ.get("KRES_FUZZ_SEED", "") or 0)
COMMANDS = ("explain", "diff", "check", "simulate", "qos")
OTHERS: tuple[Any, ...] = ("x", 7, True, [], {}, [1], {"a": 1}, 0.5)
AMOUNTS = frozenset({"requests", "limits"})


def with_other_type(random: Random, item: dict[str, Any]) -> str:
    """Change one value of the object; the name of its field."""
    amounts = [holder[key] for holder, key in places(item) if key in AMOUNTS]
    found = [place for place in places(item) if not any(place[0] is amount for amount in amounts)]
    holder, key = random.choice(found)
    value = holder[key]
    holder[key] = random.choice([other for other in OTHERS if type(other) is not type(value)])
    if isinstance(value, int) and isinstance(holder[key], float | bool):
        holder[key] = "x"
    if key == "maxSurge":
        holder[key] = []
    return str(key)


def test_a_wrong_type_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    file, wrong = tmp_path / "objects.yaml", []
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        item = sound(random)
        while item["kind"] not in {"Pod", *WORKLOADS}:
            item = sound(random)
        other = sound(random)
        other["metadata"]["name"] = "other"
        field = with_other_type(random, item)
        file.write_text("\n---\n".join(json.dumps(each, indent=1) for each in random.sample((item, other), 2)))
        command = random.choice(COMMANDS)
        monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-kres", command, "--offline", "-f", str(file)])
        code = entry()
        out, err = capsys.readouterr()
        said = " ".join((out + err).split())
        placed = re.search(r"objects\.yaml:\d+(:\d+)?: .*(invalid type|expected|missing|no matches)", said)
        served = re.search(r"cannot be handled as|cannot unmarshal|no matches for kind|refused", said)
        if code not in {0, 1, 2, 4} or "Traceback" in err or "Expected `" in said or not (placed or served):
            wrong.append((seed, command, code, field, said[:300]))
    assert wrong == [], "\n".join(map(str, wrong[:10]))
