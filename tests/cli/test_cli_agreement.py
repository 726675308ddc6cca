"""One question, one answer: every way to ask about an object gives the same verdict, numbers and first remedy."""

from __future__ import annotations

import os
from typing import Any

import pytest
from cli import faces
from cli.account_worlds import PLURALS, SPACE, World
from cli.apiserver import Api
from cli.running import Kres

from kubectl_kres import api as python_api

#: KRES_AGREE=2000 asks about so many worlds; KRES_AGREE_FROM=500 begins there.
_WORLDS = int(os.environ.get("KRES_AGREE", "100"))
_FROM = int(os.environ.get("KRES_AGREE_FROM", "1"))
_CHUNK = min(10, _WORLDS)
Raw = dict[str, Any]


def _shortages(quotas: list[Raw]) -> Raw:
    """By quota and resource what is asked for beyond the hard, where a face says so."""
    return {
        (cost["quota"], name): cost["charge"]["requested"].get(name, "")
        for cost in quotas
        for name in cost.get("exceeded", ())
    }


def _written(world: World, kind: str, name: str) -> Raw:
    given = faces.written(world.objects, (kind, name))
    if kind == "Job":
        # The server makes them anew.
        given["spec"] = {key: value for key, value in given["spec"].items() if key != "selector"}
        given["spec"]["template"] = {**given["spec"]["template"], "metadata": {"labels": {"a": name}}}
    return given


def _ask_everywhere(kres: Kres, api: Api, seed: int, tmp: str) -> list[str]:
    world = World(seed)
    api.objects[:] = world.objects
    found: list[str] = []
    file = f"{tmp}/{seed}.kres"
    kres("snapshot", "-n", SPACE, "--out", file)
    cluster = python_api.open_cluster(namespace=SPACE)
    rows = faces.refused_rows(kres, cluster, SPACE)
    named = faces.named_by_check(kres, cluster, SPACE, {"KRES101"})
    for kind, name in world.workloads:
        plural = PLURALS[kind]
        single = faces.by_ref(kres("explain", f"{plural}/{name}", "-n", SPACE, "-o", "json").out)[kind, name]
        said = faces.answers(kres, cluster, SPACE, plural, (kind, name), file, api=True)
        if kind != "CronJob":
            fit = kres("quota", "--fit", f"{plural}/{name}", "-n", SPACE, "-o", "json")
            said["--fit"] = faces.by_ref(fit.out).get((kind, name))
        for face, other in said.items():
            found += faces.differences(f"{seed} {kind} {face}", single, other)
        if fault := faces.table_fault(kres, SPACE, plural, name, single):
            found.append(f"{seed} {kind} table: {fault}")
        found += [f"{seed} {kind} {it}" for it in faces.calmer_faces(kres, f"{plural}/{name} -n {SPACE}", single)]
        word = single["verdict"]["outcome"]
        negative = word.startswith(("refused", "partly", "blocked", "depends"))
        for face, row in rows.items():
            if negative and (kind, name) not in row:
                found.append(f"{seed} {kind} {face}: {word}, and is not named")
            if (kind, name) in row:
                found += faces.differences(f"{seed} {kind} {face}", single, row[kind, name])
        denied = rows["--denied"].get((kind, name))
        if denied is not None and _shortages(denied.get("quotas", [])) != _shortages(single.get("quotas", [])):
            found.append(f"{seed} {kind} --denied: another shortage")
        as_file = faces.answer_as_file(kres, _written(world, kind, name), tmp, seed)
        found += faces.file_differences(f"{seed} {kind} -f", single, as_file)
        for face, keys in named.items():
            if negative != ((kind, name) in keys):
                found.append(f"{seed} {kind} {face}: {word}, KRES101 {(kind, name) in keys}")
    return found


@pytest.mark.one_in(10)
@pytest.mark.parametrize("start", range(_FROM, _FROM + _WORLDS, _CHUNK))
def test_every_face_gives_the_same_answer(kres: Kres, api: Api, tmp_path, start: int) -> None:
    api.version = {"gitVersion": "v1.36.3"}
    found = [it for seed in range(start, start + _CHUNK) for it in _ask_everywhere(kres, api, seed, str(tmp_path))]
    assert not found, "\n".join(found)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("seed", [136, 320, 470, 993, 1052, 1511, 1845, 1877, 1996])
def test_what_once_differed(kres: Kres, api: Api, tmp_path, seed: int) -> None:
    """What another workload gives back, what comes before its pods, and a crash where only what pods lack is short."""
    api.version = {"gitVersion": "v1.36.3"}
    found = _ask_everywhere(kres, api, seed, str(tmp_path))
    assert not found, "\n".join(found)
