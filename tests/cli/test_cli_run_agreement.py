"""One question, one answer, about runs of Tekton: every way to ask gives the same verdict and first remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli import faces
from cli.apiserver import Api
from cli.run_worlds import PLURALS, SPACE, RunWorld
from cli.running import Kres
from cli.test_cli_tekton import served

from kubectl_kres import api as python_api
from kubectl_kres.tekton.model import GROUP as TEKTON

#: KRES_AGREE_RUNS=500 asks about so many worlds; KRES_AGREE_FROM=500 begins there.
_WORLDS = int(os.environ.get("KRES_AGREE_RUNS", "60"))
_FROM = int(os.environ.get("KRES_AGREE_FROM", "1"))
_CHUNK = min(10, _WORLDS)
#: Codes of check that say that a run is refused: also one that its quota can never have.
_REFUSED = {"KRES101", "KRES107"}


def _ask_everywhere(kres: Kres, api: Api, seed: int, tmp: str) -> list[str]:
    world = RunWorld(seed)
    api.objects[:] = world.objects
    found: list[str] = []
    file = f"{tmp}/{seed}.kres"
    kres("snapshot", "-n", SPACE, "--out", file)
    cluster = python_api.open_cluster(namespace=SPACE)
    rows = faces.refused_rows(kres, cluster, SPACE)
    named = faces.named_by_check(kres, cluster, SPACE, _REFUSED)
    for kind, name in world.runs:
        plural = PLURALS[kind]
        single = faces.by_ref(kres("explain", f"{plural}/{name}", "-n", SPACE, "-o", "json").out)[kind, name]
        said = faces.answers(kres, cluster, SPACE, plural, (kind, name), file, api=kind == "TaskRun")
        for face, other in said.items():
            found += faces.differences(f"{seed} {kind}/{name} {face}", single, other)
        if fault := faces.table_fault(kres, SPACE, plural, name, single):
            found.append(f"{seed} {kind}/{name} table: {fault}")
        denied = (kind, name) in rows["--denied"]
        for face, row in rows.items():
            if denied != ((kind, name) in row):
                found.append(f"{seed} {kind}/{name} {face}: named {(kind, name) in row}, not as --denied")
            if (kind, name) in row:
                found += faces.differences(f"{seed} {kind}/{name} {face}", single, row[kind, name])
        # A run that has ended, or has its pod, is no fault of now.
        word = single["verdict"]["outcome"]
        negative = word.startswith(("refused", "partly", "blocked", "depends"))
        ended = single.get("ended", False) or (single.get("tekton") or {}).get("status", "Unknown") != "Unknown"
        for face, keys in named.items():
            if (negative and not ended) != ((kind, name) in keys):
                found.append(f"{seed} {kind}/{name} {face}: {word}, named {(kind, name) in keys}")
        status = next(it for it in world.objects if (it["kind"], it["metadata"]["name"]) == (kind, name))["status"]
        if not status:
            # A new run like it.
            as_file = faces.answer_as_file(kres, faces.written(world.objects, (kind, name)), tmp, seed)
            found += faces.file_differences(f"{seed} {kind}/{name} -f", single, as_file)
    return found


@pytest.mark.one_in(6)
@pytest.mark.parametrize("start", range(_FROM, _FROM + _WORLDS, _CHUNK))
def test_every_face_gives_the_same_answer_about_runs(kres: Kres, api: Api, tmp_path: Path, start: int) -> None:
    api.version = {"gitVersion": "v1.36.3"}
    api.groups = served(TEKTON)
    found = [it for seed in range(start, start + _CHUNK) for it in _ask_everywhere(kres, api, seed, str(tmp_path))]
    assert not found, "\n".join(found)
