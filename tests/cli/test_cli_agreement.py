"""One question, one answer: every way to ask about an object gives the same verdict, numbers and first remedy."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from cli.account_worlds import PLURALS, SPACE, World
from cli.apiserver import Api
from cli.running import Kres

from kubectl_kres import api as python_api
from kubectl_kres.mcp.tools import answer_tool

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
    if other is None or "verdict" not in other:
        return [f"{name}: no answer"]
    if not other.get("complete", True) or not single.get("complete", True):
        return []
    one, two = _said(single), _said(other)
    if "missing" not in other["verdict"] and "allowed" not in other["verdict"]:
        one = {key: value for key, value in one.items() if key in {"outcome", "message", "remedy"}}
    if not (one["remedy"] and two["remedy"]):
        one["remedy"] = two["remedy"] = ""
    return [f"{name}: {key}: {one[key]!r} and {two[key]!r}" for key in one if one[key] != two[key]]


def _as_denied(rows: list[Raw]) -> list[Raw]:
    """The rows of the MCP tool, which has fewer fields, in the form of the others."""
    return [{**row, "verdict": {"outcome": row["outcome"], "message": row["message"]}} for row in rows]


def _shortages(quotas: list[Raw]) -> Raw:
    """By quota and resource what is asked for beyond the hard, where a face says so."""
    return {
        (cost["quota"], name): cost["charge"]["requested"].get(name, "")
        for cost in quotas
        for name in cost.get("exceeded", ())
    }


def _given_as_file(kres: Kres, world: World, kind: str, name: str, folder: str) -> Raw | None:
    """The answer about the object as a file, beside a snapshot of its world."""
    written = next(it for it in world.objects if it["kind"] == kind and it["metadata"]["name"] == name)
    given = {key: value for key, value in written.items() if key != "status"}
    given["metadata"] = {key: written["metadata"][key] for key in ("name", "namespace")}
    if kind == "Job":
        # The server makes them anew.
        given["spec"] = {key: value for key, value in given["spec"].items() if key != "selector"}
        given["spec"]["template"] = {**given["spec"]["template"], "metadata": {"labels": {"a": name}}}
    path = f"{folder}/{name}.json"
    Path(path).write_text(json.dumps(given), encoding="utf-8")
    answer = kres("explain", "-f", path, "--snapshot", f"{folder}/{world.seed}.kres", "-o", "json")
    return _by_ref(answer.out).get((kind, name))


def _same_word(name: str, single: Raw, file: Raw | None) -> list[str]:
    """A file that changes nothing is refused only where the object that is there is: a pod more may be asked about."""
    if file is None or not file.get("complete", True) or not single.get("complete", True):
        return [f"{name}: no answer"] if file is None else []
    refused = {"refused", "partly", "depends-on-order", "no-answer"}
    one, two = single["verdict"]["outcome"], file["verdict"]["outcome"]
    if one in refused and two not in refused:
        return [f"{name}: {one} and {two}: {single['verdict'].get('message', '')}"]
    if one == "admitted" and two in refused:
        return [f"{name}: {one} and {two}: {file['verdict'].get('message', '')}"]
    return []


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
    shown = json.loads(kres("overview", "-n", SPACE, "-o", "json").out)["items"][0]
    problems = {
        (it["subject"]["kind"], it["subject"]["name"]): it
        for it in shown.get("problems", ())
        if it["area"] == "refused"
    }
    cluster = python_api.open_cluster(namespace=SPACE)
    by_api = {
        (it.report.subject.kind, it.report.subject.name): it.to_dict() for it in python_api.denied(cluster, SPACE)
    }
    arguments = {"context": "there", "namespace": SPACE}
    tool = answer_tool("overview", arguments, lambda _: cluster, ["there"])
    by_tool = {(it["subject"]["kind"], it["subject"]["name"]): it for it in _as_denied(tool["refused"])}
    by_check = {(it.report.object.kind, it.report.object.name) for it in python_api.check(cluster=cluster)
                if it.report.code == "KRES101"}  # fmt: skip
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
        said["api.explain"] = python_api.explain(f"{plural}/{name}", cluster=cluster).to_dict()
        said["MCP explain"] = answer_tool(
            "explain", {**arguments, "object": f"{plural}/{name}"}, lambda _: cluster, ["there"]
        )
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
        rows = {"--denied": denied, "overview": problems, "api.denied": by_api, "MCP overview": by_tool}
        for face, row in rows.items():
            if negative and (kind, name) not in row:
                found.append(f"{seed} {kind} {face}: {word}, and is not named")
            if (kind, name) in row:
                found += _differences(f"{seed} {kind} {face}", single, row[kind, name])
        if (kind, name) in denied and _shortages(denied[kind, name].get("quotas", [])) != _shortages(
            single.get("quotas", [])
        ):
            found.append(f"{seed} {kind} --denied: another shortage")
        found += _same_word(f"{seed} {kind} -f", single, _given_as_file(kres, world, kind, name, tmp))
        if negative != ((kind, name) in by_check):
            found.append(f"{seed} {kind} api.check: {word}, KRES101 {(kind, name) in by_check}")
        if negative != ((kind, name) in errors):
            found.append(f"{seed} {kind} check: {word}, KRES101 {(kind, name) in errors}")
    return found


@pytest.mark.parametrize("start", range(_FROM, _FROM + _WORLDS, _CHUNK))
def test_every_face_gives_the_same_answer(kres: Kres, api: Api, tmp_path, start: int) -> None:
    api.version = {"gitVersion": "v1.36.3"}
    found = [it for seed in range(start, start + _CHUNK) for it in _ask_everywhere(kres, api, seed, str(tmp_path))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("seed", [136, 320, 470, 993, 1052, 1511, 1845, 1877, 1996])
def test_what_once_differed(kres: Kres, api: Api, tmp_path, seed: int) -> None:
    """What another workload gives back, what comes before its pods, and a crash where only what pods lack is short."""
    api.version = {"gitVersion": "v1.36.3"}
    found = _ask_everywhere(kres, api, seed, str(tmp_path))
    assert not found, "\n".join(found)
