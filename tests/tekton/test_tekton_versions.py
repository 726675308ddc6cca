"""What versions of Tekton make of the same run, by one table, and how the table and its page agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tekton.made import built, config, limit_range, resources, step, submitted, taskrun, world

from kubectl_kres.provenance.journal import Assumption, Set
from kubectl_kres.tekton.rules.base.config import CHANGES, NEWEST, OLDEST, has_change, version_of
from kubectl_kres.tekton.rules.base.problem import Problem
from kubectl_kres.tekton.rules.validation.webhook import admit_object

_DEFAULTS = {"default": {"requests": {"cpu": "300m"}, "limits": {"cpu": "2"}}}
_LANE = limit_range("lane", defaultRequest={"cpu": "100m"})


def _texts(version: str, **keys: str) -> list[str]:
    return [item.text for item in config(info=version, **keys).assumed]


@pytest.mark.parametrize(("version", "requests"), [("v0.62.2", "100m"), ("v0.62.3", "300m"), ("v0.63.0", "300m")])
def test_who_fills_an_empty_step_first(version: str, requests: str) -> None:
    """Until 0.62.3 the LimitRange does, after which the step is no longer empty."""
    around = world(_LANE, settings=config(_DEFAULTS, info=version))
    assert submitted(taskrun([step("a")]), around)["step-a"]["requests"]["cpu"] == requests


@pytest.mark.parametrize(("version", "prepares"), [("v0.55.0", None), ("v0.60.0", "300m"), ("v1.15.0", "300m")])
def test_containers_that_tekton_adds_get_defaults_from_0_56_on(version: str, prepares: str | None) -> None:
    around = world(_LANE, settings=config(_DEFAULTS, info=version))
    given = submitted(taskrun([step("a")]), around)["prepare"].get("requests", {}).get("cpu")
    assert given == prepares
    texts = [entry.text for entry in built(taskrun([step("a")]), around).journal if isinstance(entry, Assumption)]
    said = any("does not read default-container-resource-requirements" in text for text in texts)
    assert said == (prepares is None)


@pytest.mark.parametrize(
    ("version", "memory"), [("v0.60.0", "341333333m"), ("v0.66.0", "341333333m"), ("v0.68.0", "341333")]
)
def test_memory_of_a_whole_task(version: str, memory: str) -> None:
    """A third of 1000Ki, in thousandths of a byte or in bytes."""
    run = taskrun([step("a"), step("b"), step("c")], computeResources=resources({"memory": "1024k"}))
    around = world(settings=config(info=version))
    values = [
        entry.after
        for entry in built(run, around).journal
        if isinstance(entry, Set) and entry.path == "spec.containers[0].resources.requests[memory]"
    ]
    assert values == [memory]


@pytest.mark.parametrize(
    ("version", "field", "gate"),
    [
        ("v0.48.0", "computeResources", '"alpha" but it is "stable"'),
        ("v0.52.0", "computeResources", '"alpha" but it is "beta"'),
        ("v0.53.0", "computeResources", None),
        ("v0.60.0", "stepSpecs", '"alpha" but it is "beta"'),
        ("v0.62.0", "stepSpecs", None),
    ],
)
def test_fields_that_need_a_gate(version: str, field: str, gate: str | None) -> None:
    value = resources({"cpu": "1"})
    more = {"stepSpecs": [{"name": "a", "computeResources": value}]} if field == "stepSpecs" else {field: value}
    task = {"steps": [{"name": "a", "image": "i"}]}
    raw = {
        "apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "run", "namespace": "ns"},
        "spec": {"taskSpec": task, **more},
    }  # fmt: skip
    answer = admit_object(raw, config(info=version).flags)
    assert isinstance(answer, Problem) == (gate is not None)
    if gate is not None:
        assert f'{field} requires "enable-api-fields" feature gate to be {gate}' in answer.message


@pytest.mark.parametrize(
    ("version", "keys", "coschedule"),
    [
        ("v0.48.0", {"coschedule": "pipelineruns"}, "workspaces"),
        ("v0.48.0", {"coschedule": "pipelineruns", "disable-affinity-assistant": "true"}, "disabled"),
        ("v0.60.0", {"coschedule": "workspaces", "disable-affinity-assistant": "true"}, "disabled"),
        ("v0.60.0", {"coschedule": "pipelineruns", "disable-affinity-assistant": "true"}, "pipelineruns"),
        ("v0.60.0", {"coschedule": "workspaces", "disable-affinity-assistant": "false"}, "workspaces"),
        ("v1.0.0", {"coschedule": "workspaces", "disable-affinity-assistant": "true"}, "workspaces"),
        ("v1.0.0", {"coschedule": "disabled"}, "disabled"),
    ],
)
def test_what_is_kept_on_one_node(version: str, keys: dict[str, str], coschedule: str) -> None:
    assert config(info=version, **keys).flags.coschedule == coschedule


def test_sidecars_are_native_from_0_62_on() -> None:
    on = {"enable-kubernetes-sidecar": "true"}
    assert [config(info=each, **on).flags.kubernetes_sidecar for each in ("v0.61.1", "v0.62.0")] == [False, True]


def test_patches_of_old_lines_have_what_was_brought_to_them() -> None:
    assert [has_change("claims-retried", version_of(each)) for each in ("v1.3.1", "v1.3.2", "v1.4.0")] == [
        False, True, True,
    ]  # fmt: skip
    assert [has_change("built-in-values", version_of(each)) for each in ("v1.12.2", "v1.13.0", "v1.13.1")] == [
        False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("version", ["v0.40.0", "v0.60.0", "v1.6.8", "v1.16.0"])
def test_nothing_is_remarked_of_versions_whose_rules_are_followed(version: str) -> None:
    assert _texts(version) == []


def test_an_older_and_a_newer_version_are_named() -> None:
    assert _texts("v0.39.0") == [
        "Tekton 0.39.0 is older than 0.40: the rules of 0.40 are used; what older ones do otherwise is not known"
    ]
    (newer,) = _texts("v1.17.2")
    assert newer.endswith("the rules of 1.16 are used; flags, defaults and reasons may differ")


def test_the_page_has_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tekton.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]*) \|$", page, re.MULTILINE)
    wanted = [(_since(change), change.text, change.before or "-") for change in CHANGES]
    assert [row for row in rows if row in wanted] == wanted
    assert OLDEST < CHANGES[0].since <= CHANGES[-1].since <= NEWEST


def _since(change: object) -> str:
    def name(version: tuple[int, int, int]) -> str:
        return ".".join(map(str, version if version[2] else version[:2]))

    texts = [name(change.since), *map(name, change.lines)]
    return ", ".join(texts) + (f", until {name(change.until)}" if change.until else "")
