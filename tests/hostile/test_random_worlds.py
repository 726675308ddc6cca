"""Servers and snapshots with objects of every kind, some of them altered anywhere: every command ends with a documented
code, without a traceback, in time.

KRES_FUZZ: how many worlds are tried; without it 2,000, of which ``make test`` takes some.  KRES_FUZZ_SEED: the first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from copy import deepcopy
from random import Random
from time import process_time
from typing import Any

import pytest
from cli.apiserver import Api
from cli.test_cli_one_right_missing import COMMANDS as READING
from hostile.random_objects import altered, sound
from hostile.test_random_servers import policies
from hostile.test_random_snapshots import demo_pages

from kubectl_kres.model.kinds import BY_KIND

COUNT = int(os.environ.get("KRES_FUZZ", "") or 2_000)
FIRST = int(os.environ.get("KRES_FUZZ_SEED", "") or 0)
PARTS = 40
DOCUMENTED = frozenset(range(5))
#: Seconds of CPU that a run and its server may take.
MOST = 20.0
COMMANDS = (
    *READING,
    "explain deploy,sts,ds,jobs,cronjobs,rs,pods -A -o brief",
    "explain taskruns,pipelineruns,tenants -A -o json",
    "explain policies -A",
    "quota --by priority -A",
    "quota --recount -A -o json",
    "qos -A --cgroup v2",
    "check -A -o json",
    "overview -A -o json",
    "diff pods,deployments -A",
    "pools -o metrics",
    "simulate --rollouts 2 -n checkout",
    "simulate --delete quota/team -n checkout -o json",
    "snapshot -A --out world.kres",
)
Raw = dict[str, Any]
Run = Callable[..., tuple[int, str, str]]
_DEMO = [
    {"apiVersion": BY_KIND[page["kind"]].api_version, "kind": page["kind"], **item}
    for page in demo_pages()
    if page["kind"] in BY_KIND
    for item in page["items"]
]


def servable(item: Raw, name: str) -> Raw:
    """An altered object by which the small server can still find it: all else of it is as random as it is."""
    metadata = item["metadata"] if isinstance(item.get("metadata"), dict) else {}
    item["metadata"] = metadata
    metadata["name"] = name
    for field, form in (("namespace", str), ("labels", dict)):
        if not isinstance(metadata.get(field), form):
            metadata.pop(field, None)
    return item


def world(random: Random) -> list[Raw]:
    """The demo, sound objects of any kind in its namespaces and sometimes a policy; one to six of them altered."""
    objects = [deepcopy(item) for item in random.sample(_DEMO, min(len(_DEMO), random.choice((40, 120, 1_000))))]
    for number in range(random.randint(0, 12)):
        item = sound(random)
        item["metadata"]["name"] = f"{item['metadata']['name']}-{number}"
        if "namespace" in item["metadata"]:
            item["metadata"]["namespace"] = random.choice(("shop", "checkout", "ci"))
        objects.append(item)
    if random.random() < 0.2:
        objects += [servable(item, "a") for item in policies(random) if item.get("kind") in list(BY_KIND)]
    for place in random.sample(range(len(objects)), random.randint(1, 6)):
        item = objects[place]
        kept, name = {field: item[field] for field in ("apiVersion", "kind")}, item["metadata"]["name"]
        objects[place] = servable({**altered(random, item), **kept}, name)
    return in_order(item for item in objects if item["kind"] in BY_KIND)


def in_order(objects: Iterable[Raw]) -> list[Raw]:
    """As a server lists them."""
    return sorted(objects, key=lambda item: f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}")


@pytest.mark.one_in(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_any_world_is_answered_about(part: int, api: Api, run: Run):
    wrong, ended = [], set()
    for seed in range(FIRST + part, FIRST + COUNT, PARTS):
        random = Random(f"world {seed}")
        api.objects = world(random)
        command = random.choice(COMMANDS)
        began = process_time()
        code, out, err = run(*command.split(), *random.choice(((), (), ("--chunk-size", "7"))))
        seconds = process_time() - began
        ended.add(code)
        if code not in DOCUMENTED or "Traceback" in err or "\x1b" in out + err or seconds > MOST:
            wrong.append((seed, command, code, round(seconds, 1), err.strip().splitlines()[-4:]))
    assert wrong == [], "\n".join(map(ascii, wrong))
    assert len(ended) > 1 or len(range(FIRST + part, FIRST + COUNT, PARTS)) < 20, ended


def test_the_worlds_hold_objects_of_every_system():
    kinds = {item["kind"] for seed in range(40) for item in world(Random(f"world {seed}"))}
    for kind in ("Pod", "TaskRun", "ResourcePoolClaim", "Tenant", "VerticalPodAutoscaler", "ValidatingAdmissionPolicy"):
        assert kind in kinds


def test_the_commands_are_ones_that_there_are(api: Api, run: Run):
    api.objects = in_order(deepcopy(_DEMO))
    codes = {command: run(*command.split())[0] for command in COMMANDS}
    assert {command for command, code in codes.items() if code not in {0, 1}} == set()
