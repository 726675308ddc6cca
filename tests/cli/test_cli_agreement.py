"""One question, one answer: every way to ask about an object gives the same verdict, numbers and first remedy."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest
from cli.account_worlds import PLURALS, SPACE, World
from cli.apiserver import Api
from cli.running import Kres

#: KRES_AGREE=2000 asks about so many worlds; KRES_AGREE_FROM=500 begins there.
_WORLDS = int(os.environ.get("KRES_AGREE", "100"))
_FROM = int(os.environ.get("KRES_AGREE_FROM", "1"))
_CHUNK = min(10, _WORLDS)
#: What would do for one pod more is left out where others may take the room first.
_NEXT = re.compile(r" \([^()]* is enough for the next pod\)")
Raw = dict[str, Any]


def _said(explanation: Raw) -> Raw:
    """What must be the same however it is asked."""
    verdict = explanation["verdict"]
    remedies = explanation.get("remedies") or []
    # Others that lack pods are looked for by events where one object is named, and by workloads that were read else.
    alone = not any(remedy.get("shared") or remedy.get("contested") for remedy in remedies)
    return {
        "outcome": verdict["outcome"],
        "missing": verdict.get("missing", 1),
        "fits": verdict.get("fits"),
        "message": verdict.get("message", ""),
        "remedy": _NEXT.sub("", remedies[0]["text"]) if remedies and alone else "",
    }


def _by_ref(text: str) -> dict[tuple[str, str], Raw]:
    items = json.loads(text)
    items = items.get("items", [items]) if isinstance(items, dict) else items
    return {(item["subject"]["kind"], item["subject"]["name"]): item for item in items if item.get("verdict")}


def _differences(name: str, single: Raw, other: Raw | None) -> list[str]:
    if other is None:
        return [f"{name}: no answer"]
    if not other.get("complete", True) or not single.get("complete", True):
        return []
    one, two = _said(single), _said(other)
    if not (one["remedy"] and two["remedy"]):
        one["remedy"] = two["remedy"] = ""
    return [f"{name}: {key}: {one[key]!r} and {two[key]!r}" for key in one if one[key] != two[key]]


def _ask_everywhere(kres: Kres, api: Api, seed: int, tmp: str) -> list[str]:
    world = World(seed)
    api.objects[:] = world.objects
    found: list[str] = []
    file = f"{tmp}/{seed}.kres"
    kres("snapshot", "-n", SPACE, "--out", file)
    denied = json.loads(kres("quota", "--denied", "-n", SPACE, "-o", "json").out or "[]")
    refused = denied.get("items", ()) if isinstance(denied, dict) else denied
    denied = {(it["subject"]["kind"], it["subject"]["name"]): it for it in refused}
    checked = json.loads(kres("check", "-n", SPACE, "-o", "json").out)
    errors = {(it["object"]["kind"], it["object"]["name"]) for it in checked["items"] if it["code"] == "KRES101"}
    for kind, name in world.workloads:
        plural = PLURALS[kind]
        single = _by_ref(kres("explain", f"{plural}/{name}", "-n", SPACE, "-o", "json").out)[kind, name]
        faces = {
            "list -n": kres("explain", plural, "-n", SPACE, "-o", "json"),
            "list -A": kres("explain", plural, "-A", "-o", "json"),
            "snapshot": kres("explain", f"{plural}/{name}", "-n", SPACE, "--snapshot", file, "-o", "json"),
            "list of a snapshot": kres("explain", plural, "-n", SPACE, "--snapshot", file, "-o", "json"),
        }
        said = {face: _by_ref(answer.out).get((kind, name)) for face, answer in faces.items()}
        if kind != "CronJob":
            fit = kres("quota", "--fit", f"{plural}/{name}", "-n", SPACE, "-o", "json")
            said["--fit"] = _by_ref(fit.out).get((kind, name))
        for face, other in said.items():
            found += _differences(f"{seed} {kind} {face}", single, other)
        word = single["verdict"]["outcome"]
        table = kres("explain", plural, "-n", SPACE).out.splitlines()
        line = next((line for line in table if line.split()[1:2] == [name]), "")
        if f" {word} " not in f"{line} " and single.get("complete", True) and word.isalpha():
            found.append(f"{seed} {kind} table: {word}: {line}")
        negative = word.startswith(("refused", "partly", "blocked", "depends"))
        if kind != "CronJob" and negative and (kind, name) not in denied and "partly" not in word:
            found.append(f"{seed} {kind} --denied: {word}, and is not named")
        if (kind, name) in denied:
            found += _differences(f"{seed} {kind} --denied", single, denied[kind, name])
        if negative != ((kind, name) in errors):
            found.append(f"{seed} {kind} check: {word}, KRES101 {(kind, name) in errors}")
    return found


@pytest.mark.parametrize("start", range(_FROM, _FROM + _WORLDS, _CHUNK))
def test_every_face_gives_the_same_answer(kres: Kres, api: Api, tmp_path, start: int) -> None:
    api.version = {"gitVersion": "v1.36.3"}
    found = [it for seed in range(start, start + _CHUNK) for it in _ask_everywhere(kres, api, seed, str(tmp_path))]
    assert not found, "\n".join(found)
