"""One question, one answer, about runs of Tekton: every way to ask gives the same verdict and first remedy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api
from cli.run_worlds import PLURALS, SPACE, RunWorld
from cli.running import Kres
from cli.test_cli_agreement import _as_denied, _by_ref, _differences, _same_word
from cli.test_cli_tekton import served

from kubectl_kres import api as python_api
from kubectl_kres.mcp.tools import answer_tool
from kubectl_kres.tekton.model import GROUP as TEKTON

#: KRES_AGREE_RUNS=500 asks about so many worlds; KRES_AGREE_FROM=500 begins there.
_WORLDS = int(os.environ.get("KRES_AGREE_RUNS", "60"))
_FROM = int(os.environ.get("KRES_AGREE_FROM", "1"))
_CHUNK = min(10, _WORLDS)
#: Codes of check that say that a run is refused: also one that its quota can never have.
_REFUSED = {"KRES101", "KRES107"}
Raw = dict[str, Any]


def _as_file(kres: Kres, world: RunWorld, kind: str, name: str, folder: str) -> Raw | None:
    """The answer about a new run like it, as a file beside a snapshot of its world."""
    written = next(it for it in world.objects if it["kind"] == kind and it["metadata"]["name"] == name)
    given = {key: value for key, value in written.items() if key != "status"}
    given["metadata"] = {key: written["metadata"][key] for key in ("name", "namespace")}
    path = f"{folder}/{name}.json"
    Path(path).write_text(json.dumps(given), encoding="utf-8")
    answer = kres("explain", "-f", path, "--snapshot", f"{folder}/{world.seed}.kres", "-o", "json")
    return _by_ref(answer.out).get((kind, name))


def _ask_everywhere(kres: Kres, api: Api, seed: int, tmp: str) -> list[str]:
    world = RunWorld(seed)
    api.objects[:] = world.objects
    found: list[str] = []
    file = f"{tmp}/{seed}.kres"
    kres("snapshot", "-n", SPACE, "--out", file)
    cluster = python_api.open_cluster(namespace=SPACE)
    arguments = {"context": "there", "namespace": SPACE}
    refused = json.loads(kres("quota", "--denied", "-n", SPACE, "-o", "json").out or "[]")
    denied = {(it["subject"]["kind"], it["subject"]["name"]): it for it in refused.get("items", ())}
    shown = json.loads(kres("overview", "-n", SPACE, "-o", "json").out)["items"][0]
    problems = {(it["subject"]["kind"], it["subject"]["name"]): it for it in shown.get("problems", ())
                if it["area"] == "refused"}  # fmt: skip
    by_api = {
        (it.report.subject.kind, it.report.subject.name): it.to_dict() for it in python_api.denied(cluster, SPACE)
    }
    tool = answer_tool("overview", arguments, lambda _: cluster, ["there"])
    by_tool = {(it["subject"]["kind"], it["subject"]["name"]): it for it in _as_denied(tool["refused"])}
    checked = json.loads(kres("check", "-n", SPACE, "-o", "json").out)
    errors = {(it["object"]["kind"], it["object"]["name"]) for it in checked["items"] if it["code"] in _REFUSED}
    by_check = {(it.report.object.kind, it.report.object.name) for it in python_api.check(cluster=cluster)
                if it.report.code in _REFUSED}  # fmt: skip
    for kind, name in world.runs:
        plural = PLURALS[kind]
        single = _by_ref(kres("explain", f"{plural}/{name}", "-n", SPACE, "-o", "json").out)[kind, name]
        faces = {
            "list -n": kres("explain", plural, "-n", SPACE, "-o", "json"),
            "list -A": kres("explain", plural, "-A", "-o", "json"),
            "snapshot": kres("explain", f"{plural}/{name}", "-n", SPACE, "--snapshot", file, "-o", "json"),
            "list of a snapshot": kres("explain", plural, "-n", SPACE, "--snapshot", file, "-o", "json"),
        }
        said = {face: _by_ref(answer.out).get((kind, name)) for face, answer in faces.items()}
        if kind == "TaskRun":
            said["api.explain"] = python_api.explain(f"{plural}/{name}", cluster=cluster).to_dict()
            asked = {**arguments, "object": f"{plural}/{name}"}
            said["MCP explain"] = answer_tool("explain", asked, lambda _: cluster, ["there"])
        for face, other in said.items():
            found += _differences(f"{seed} {kind}/{name} {face}", single, other)
        word = single["verdict"]["outcome"]
        table = kres("explain", plural, "-n", SPACE).out.splitlines()
        line = next((line for line in table if line.split()[1:2] == [name]), "")
        if f" {word} " not in f"{line} " and single.get("complete", True) and word.isalpha():
            found.append(f"{seed} {kind}/{name} table: {word}: {line}")
        rows = {"--denied": denied, "overview": problems, "api.denied": by_api, "MCP overview": by_tool}
        for face, row in rows.items():
            if ((kind, name) in denied) != ((kind, name) in row):
                found.append(f"{seed} {kind}/{name} {face}: named {(kind, name) in row}, not as --denied")
            if (kind, name) in row:
                found += _differences(f"{seed} {kind}/{name} {face}", single, row[kind, name])
        # A run that has ended, or has its pod, is no fault of now.
        negative = word.startswith(("refused", "partly", "blocked", "depends"))
        ended = single.get("ended", False) or (single.get("tekton") or {}).get("status", "Unknown") != "Unknown"
        for face, codes in {"check": errors, "api.check": by_check}.items():
            if (negative and not ended) != ((kind, name) in codes):
                found.append(f"{seed} {kind}/{name} {face}: {word}, named {(kind, name) in codes}")
        status = next(it for it in world.objects if (it["kind"], it["metadata"]["name"]) == (kind, name))["status"]
        if not status:
            found += _same_word(f"{seed} {kind}/{name} -f", single, _as_file(kres, world, kind, name, tmp))
    return found


@pytest.mark.parametrize("start", range(_FROM, _FROM + _WORLDS, _CHUNK))
def test_every_face_gives_the_same_answer_about_runs(kres: Kres, api: Api, tmp_path: Path, start: int) -> None:
    api.version = {"gitVersion": "v1.36.3"}
    api.groups = served(TEKTON)
    found = [it for seed in range(start, start + _CHUNK) for it in _ask_everywhere(kres, api, seed, str(tmp_path))]
    assert not found, "\n".join(found)
