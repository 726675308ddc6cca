"""Flipped, cut and doubled bytes of snapshots, manifests and a server's lists: a run ends with a documented code.

KRES_FUZZ: how many of each are tried; without it a fixed number. KRES_FUZZ_SEED: the first one.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import yaml
from cli.apiserver import Api, Said
from hostile import random_objects
from hostile.test_random_servers import COMMANDS, DOCUMENTED, Run, answer_of, differences, is_named, objects
from hostile.test_random_snapshots import COMMANDS as OF_SNAPSHOTS

from kubectl_kres.snapshot.read import demo_path

COUNT = int(os.environ.get("KRES_FUZZ", "") or 20)
FIRST = int(os.environ.get("KRES_FUZZ_SEED", "") or 0)
OF_FILES = ("explain", "diff", "check", "simulate", "qos")
LISTED = {"deployments": "Deployment", "pods": "Pod", "limitranges": "LimitRange", "resourcequotas": "ResourceQuota"}


def broken(random: Random, text: bytes) -> bytes:
    place, end = sorted((random.randrange(len(text) + 1), random.randrange(len(text) + 1)))
    deed = random.random()
    if deed < 0.4:
        changed = bytearray(text)
        for _ in range(random.choice((1, 1, 2, 8, 64))):
            changed[random.randrange(len(text))] ^= 1 << random.randrange(8)
        return bytes(changed)
    if deed < 0.6:
        return text[:place]
    if deed < 0.7:
        return text[place:]
    if deed < 0.8:
        return text[:place] + text[end:]
    if deed < 0.9:
        return text[:place] + text[place:end] * 2 + text[end:]
    return text[:place] + random.randbytes(random.choice((1, 3, 100))) + text[place:]


def problem(ended: tuple[int, str, str]) -> Any:
    code, out, err = ended
    if code not in DOCUMENTED or "Traceback" in err or "\x1b" in out + err:
        return code, err[-800:]
    return None


def test_any_bytes_of_a_snapshot(run: Run, tmp_path: Path) -> None:
    """Nor is a broken one answered from: its checksum says so."""
    file, whole, wrong = tmp_path / "s.kres", demo_path().read_bytes(), []
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        text = gzip.compress(whole, 1) if random.random() < 0.3 else whole
        changed = broken(random, text)
        file.write_bytes(changed)
        command = random.choice(OF_SNAPSHOTS)
        ended = run(*command.split(), "--snapshot", str(file))
        if (found := problem(ended)) or (ended[0] in {0, 1} and changed != text and ended[1]):
            wrong.append((seed, command, found or ended[0]))
    assert wrong == [], "\n".join(map(str, wrong[:10]))


def test_any_bytes_of_a_manifest(run: Run, tmp_path: Path) -> None:
    wrong = []
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        items = [random_objects.sound(random) for _ in range(random.randint(1, 3))]
        dump = random.choice((json.dumps, yaml.safe_dump))
        file = tmp_path / random.choice(("a.yaml", "a.json"))
        file.write_bytes(broken(random, "\n---\n".join(map(dump, items)).encode()))
        command = random.choice(OF_FILES)
        if found := problem(run(command, random.choice(("--offline", "--demo")), "-f", str(file))):
            wrong.append((seed, command, found))
    assert wrong == [], "\n".join(map(str, wrong[:10]))


def test_any_bytes_of_a_list(api: Api, run: Run) -> None:
    """A list that was cut off is no answer that is complete."""
    wrong = []
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        command = random.choice(COMMANDS)
        api.objects, plural = objects(), random.choice(list(LISTED))
        items = [item for item in api.objects if item["kind"] == LISTED[plural]]
        listed = {
            "kind": f"{LISTED[plural]}List",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "1"},
            "items": items,
        }
        text, headers = json.dumps(listed).encode(), {}
        if random.random() < 0.4:
            text, headers = gzip.compress(text), {"Content-Encoding": "gzip"}
        is_cut = random.random() < 0.3
        changed = text[: random.randrange(len(text))] if is_cut else broken(random, text)
        api.faults = {plural: Said(200, changed, headers=headers)}
        ended = run(*command.split())
        found = problem(ended)
        if found is None and is_cut and ended[0] == 0 and command.endswith("json"):
            complete, shown = answer_of(ended[1])
            api.faults = {}
            whole = answer_of(run(*command.split())[1])[1]
            if complete and shown != whole and not is_named(whole, shown, ended[2]):
                found = "complete", *differences(whole, shown)
        if found is not None:
            wrong.append((seed, command, plural, found))
    assert wrong == [], "\n".join(map(str, wrong[:10]))
