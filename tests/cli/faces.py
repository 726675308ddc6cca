"""The ways to ask about one namespace, and in what their answers differ: for the tests that hold them to one answer."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from cli.running import Kres

from kubectl_kres import api as python_api
from kubectl_kres.mcp.tools import answer_tool

Raw = dict[str, Any]
Key = tuple[str, str]
#: What would do for one pod more is left out where others may take the room first.
_NEXT = re.compile(r" \([^()]* is enough for the next pod\)")


def by_ref(text: str) -> dict[Key, Raw]:
    """The answers of a document by kind and name."""
    items = json.loads(text)
    items = items.get("items", [items]) if isinstance(items, dict) else items
    return {(item["subject"]["kind"], item["subject"]["name"]): item for item in items if item.get("verdict")}


def answers(kres: Kres, cluster: Any, space: str, plural: str, key: Key, file: str, *, api: bool) -> dict[str, Any]:
    """The answers about one object by face; ``file``: a snapshot; ``api``: Python and MCP answer, too."""
    kind, name = key
    faces = {
        "list -n": kres("explain", plural, "-n", space, "-o", "json"),
        "list -A": kres("explain", plural, "-A", "-o", "json"),
        "snapshot": kres("explain", f"{plural}/{name}", "-n", space, "--snapshot", file, "-o", "json"),
        "list of a snapshot": kres("explain", plural, "-n", space, "--snapshot", file, "-o", "json"),
    }
    result: dict[str, Any] = {face: by_ref(answer.out).get((kind, name)) for face, answer in faces.items()}
    if api:
        result["api.explain"] = python_api.explain(f"{plural}/{name}", cluster=cluster).to_dict()
        asked = {"context": "there", "namespace": space, "object": f"{plural}/{name}"}
        result["MCP explain"] = answer_tool("explain", asked, lambda _: cluster, ["there"])
    return result


def refused_rows(kres: Kres, cluster: Any, space: str) -> dict[str, dict[Key, Raw]]:
    """The objects that each face names as refused, by face."""
    denied = json.loads(kres("quota", "--denied", "-n", space, "-o", "json").out or "[]")
    items = denied.get("items", ()) if isinstance(denied, dict) else denied
    overview = json.loads(kres("overview", "-n", space, "-o", "json").out)["items"][0]
    tool = answer_tool("overview", {"context": "there", "namespace": space}, lambda _: cluster, ["there"])
    # The rows of the MCP tool have fewer fields.
    rows = [{**row, "verdict": {"outcome": row["outcome"], "message": row["message"]}} for row in tool["refused"]]
    return {
        "--denied": _by_subject(items),
        "overview": _by_subject([it for it in overview.get("problems", ()) if it["area"] == "refused"]),
        "api.denied": _by_subject([it.to_dict() for it in python_api.denied(cluster, space)]),
        "MCP overview": _by_subject(rows),
    }


def _by_subject(items: Collection[Raw]) -> dict[Key, Raw]:
    return {(it["subject"]["kind"], it["subject"]["name"]): it for it in items}


def named_by_check(kres: Kres, cluster: Any, space: str, codes: Collection[str]) -> dict[str, set[Key]]:
    """The objects about which check has a finding with one of the codes, by face."""
    checked = json.loads(kres("check", "-n", space, "-o", "json").out)
    found = [it.report for it in python_api.check(cluster=cluster)]
    return {
        "check": {(it["object"]["kind"], it["object"]["name"]) for it in checked["items"] if it["code"] in codes},
        "api.check": {(it.object.kind, it.object.name) for it in found if it.code in codes},
    }


def table_fault(kres: Kres, space: str, plural: str, name: str, single: Raw) -> str:
    """The line of a table in which the word of the whole answer does not stand; empty: it does."""
    word = single["verdict"]["outcome"]
    table = kres("explain", plural, "-n", space).out.splitlines()
    line = next((line for line in table if line.split()[1:2] == [name]), "")
    wrong = f" {word} " not in f"{line} " and single.get("complete", True) and word.isalpha()
    return f"{word}: {line}" if wrong else ""


def calmer_faces(kres: Kres, asked: str, single: Raw) -> list[str]:
    """What diff and qos say otherwise about an object than its whole answer; ``asked``: how it is named there."""
    word = single["verdict"]["outcome"].removesuffix("-as-far-as-seen")
    if not single.get("complete", True):
        return []
    refused = word in {"refused", "full", "depends-on-order", "no-answer"}
    found: list[str] = []
    compared = kres(f"diff {asked}").out
    told = next((known for known in ("refused", "partly", "blocked", "a further pod would be refused")
                 if compared.startswith(f"# {known}")), "")  # fmt: skip
    expected = {"full": "a further pod would be refused", "depends-on-order": "refused", "admitted": ""}.get(word, word)
    if told != expected and word != "no-answer":
        found.append(f"diff: {word} and {told or 'nothing'!r}")
    [quality] = json.loads(kres(f"qos {asked} -o json").out)["items"]
    if bool(quality.get("refused")) != refused:
        found.append(f"qos: {word} and {quality.get('refused')!r}")
    if "qos" in single and (quality["qos"]["name"], quality["qos"]["reason"]) != (
        single["qos"]["name"], single["qos"]["reason"],
    ):  # fmt: skip
        found.append(f"qos: {single['qos']} and {quality['qos']}")
    return found


def written(objects: Collection[Raw], key: Key) -> Raw:
    """The object as its author wrote it: without status, and with nothing that the server adds to its metadata."""
    stored = next(it for it in objects if (it["kind"], it["metadata"]["name"]) == key)
    given = {name: value for name, value in stored.items() if name != "status"}
    given["metadata"] = {name: stored["metadata"][name] for name in ("name", "namespace")}
    return given


def answer_as_file(kres: Kres, given: Raw, folder: str, seed: int) -> Raw | None:
    """The answer about an object as a file, beside a snapshot of its world."""
    name = given["metadata"]["name"]
    path = f"{folder}/{name}.json"
    Path(path).write_text(json.dumps(given), encoding="utf-8")
    answer = kres("explain", "-f", path, "--snapshot", f"{folder}/{seed}.kres", "-o", "json")
    return by_ref(answer.out).get((given["kind"], name))


def _said(explanation: Raw) -> Raw:
    """What must be the same however it is asked."""
    verdict = explanation["verdict"]
    remedies = explanation.get("fixes") or []
    # Others that lack pods are looked for by events where one object is named, and by workloads that were read else.
    alone = not any(remedy.get("shared") or remedy.get("contested") for remedy in remedies)
    return {
        "outcome": verdict["outcome"],
        "missing": verdict.get("missing", 1),
        "fits": verdict.get("fits"),
        "message": verdict.get("message", ""),
        "remedy": _NEXT.sub("", remedies[0]["text"]) if remedies and alone else "",
    }


def differences(name: str, single: Raw, other: Mapping[str, Any] | None) -> list[str]:
    if other is None or "verdict" not in other:
        return [f"{name}: no answer"]
    if not other.get("complete", True) or not single.get("complete", True):
        return []
    one, two = _said(single), _said(dict(other))
    if "missing" not in other["verdict"] and "allowed" not in other["verdict"]:
        one = {key: value for key, value in one.items() if key in {"outcome", "message", "remedy"}}
    if not (one["remedy"] and two["remedy"]):
        one["remedy"] = two["remedy"] = ""
    return [f"{name}: {key}: {one[key]!r} and {two[key]!r}" for key in one if one[key] != two[key]]


def file_differences(name: str, single: Raw, file: Raw | None) -> list[str]:
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
