"""One right missing, or one list that answers 500: what changes an answer is named beside it, and what failed makes it
partial.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any, NamedTuple

import pytest
from cli.apiserver import Api, Said
from cli.running import Kres, Result

from kubectl_kres.model.kinds import BY_KIND, KINDS

COMMANDS = (
    "explain deployments -A", "explain deploy/checkout -n checkout", "explain pods -n checkout", "explain limits -A",
    "explain quota -n checkout", "explain taskruns -A", "explain pipelineruns -A", "explain vpa -A", "explain pools",
    "explain claims -A", "explain cronjobs -A", "explain statefulsets -A", "overview -A", "overview -n checkout",
    "check -A", "check -n checkout", "quota -A", "quota -n checkout", "quota --denied -A", "quota --denied -n checkout",
    "quota --by workload -A", "quota --by value -n checkout", "quota --recount -A",
    "quota --fit deploy/checkout -n checkout", "timeline -A", "timeline -n checkout", "qos -A", "qos --summary -A",
    "pools", "claims -A", "diff deploy/checkout -n checkout", "simulate --kube-version 1.32 -A",
    "simulate --scale deploy/checkout=4 -n checkout", "simulate --delete limits/limits -n checkout",
)  # fmt: skip
#: The kinds that a command reads are tried in so many cases.
CASES = 10
FAILED = Said(500, {"kind": "Status", "status": "Failure", "message": "it says 500", "reason": "InternalError",
                    "code": 500})  # fmt: skip
PATHS = [(re.compile(rf"{kind.root}(?:/namespaces/[^/]+)?/{kind.plural}(?:/[^/]+)?"), kind.plural) for kind in KINDS]


class Answer(NamedTuple):
    code: int
    items: Any
    metadata: dict[str, Any]
    notes: frozenset[str]


def answer_of(result: Result) -> Answer:
    document = json.loads(result.out) if result.out else {}
    metadata = document.pop("metadata", {})
    return Answer(result.code, document, metadata, frozenset(result.err.splitlines()))


@pytest.fixture
def shop(api: Api) -> Api:
    """The bundled example behind a server."""
    lines = resources.files("kubectl_kres.demo").joinpath("shop.kres").read_text().splitlines()[1:-1]
    kept = [json.loads(line) for line in lines]
    api.objects = [
        {"apiVersion": BY_KIND[group["kind"]].api_version, "kind": group["kind"], **item}
        for group in kept if group["kind"] in BY_KIND for item in group["items"]
    ]  # fmt: skip
    api.objects.sort(key=lambda item: f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}")
    return api


def kinds_read(api: Api) -> list[str]:
    paths = {path.partition("?")[0] for path in api.asked}
    return sorted({plural for path in paths for pattern, plural in PATHS if pattern.fullmatch(path)})


def is_named(plural: str, found: Answer, whole: Answer) -> bool:
    """Whether the answer says beside its items, or in an item of its own, that the kind could not be read."""
    kinds = {kind.kind.partition(".")[0] for kind in KINDS if kind.plural == plural}
    if found.code == 3 or kinds & {item["kind"] for item in found.metadata.get("unread", ())}:
        return True
    texts = [*(found.notes - whole.notes), json.dumps(found.items)]
    return any(f"{plural} is forbidden" in text or f"{plural} (" in text for text in texts)


@pytest.mark.one_in(10)
@pytest.mark.parametrize("case", range(CASES))
@pytest.mark.parametrize("command", COMMANDS)
def test_what_could_not_be_read_is_named(kres: Kres, shop: Api, command: str, case: int):
    whole = answer_of(kres(f"{command} -o json"))
    assert whole.code in {0, 1}
    for plural in kinds_read(shop)[case::CASES]:
        shop.denied, shop.faults = {plural}, {}
        found = answer_of(kres(f"{command} -o json"))
        assert found.items == whole.items or is_named(plural, found, whole), f"{plural} denied"
        shop.denied, shop.faults = set(), {plural: FAILED}
        found = answer_of(kres(f"{command} -o json"))
        assert found.code in {3, 4} or found.items == whole.items, f"{plural} failed"
        assert found.code == 3 or found.metadata["complete"] is (found.code != 4), f"{plural} failed"
        # The path of each list of a namespace has "namespaces" in it: all of them fail with it.
        named = is_named(plural, found, whole) or plural == "namespaces"
        assert found.items == whole.items or named, f"{plural} failed"
