"""``-c`` and ``--for`` ask for a part of an explanation, in whatever format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cli.running import Kres

CHECKOUT = "explain --demo deploy/checkout -n checkout"
RUN = "explain --demo pipelinerun/release-41 -n ci"


def item(kres: Kres, text: str) -> Any:
    found = kres(f"{text} -o json")
    assert found.code == 0, found.err
    [one] = json.loads(found.out)["items"]
    return one


@pytest.mark.parametrize(
    ("flags", "container", "paths"),
    [
        ("--for app.limits.memory", "app", ["limits.memory"]),
        ("-c migrate --for limits.memory", "migrate", ["limits.memory"]),
        ("-c migrate", "migrate", ["requests.cpu", "limits.cpu", "requests.memory", "limits.memory"]),
    ],
)
def test_a_document_has_what_was_asked_for_and_no_more(kres: Kres, flags: str, container: str, paths: list[str]):
    whole, found = item(kres, CHECKOUT), item(kres, f"{CHECKOUT} {flags}")
    [one] = found["containers"]
    assert [f"{value['side']}.{value['resource']}" for value in one["values"]] == paths
    [before] = [other for other in whole["containers"] if other["name"] == container]
    assert all(value in before["values"] for value in one["values"])
    assert found["verdict"] == whole["verdict"]
    assert not {"totals", "quotas", "facts", "journal", "qos"} & found.keys()
    text = kres(f"{CHECKOUT} {flags}").out
    assert container in text
    assert all(value["value"] in text for value in one["values"])


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("-c nope", 'Deployment/checkout has no container "nope"'),
        ("--for limits.memory.x.y", "checkout/checkout: app has no memory.x.y limit"),
        ("-c migrate --for app.limits.memory", "app.limits.memory is no value of container migrate"),
    ],
)
@pytest.mark.parametrize("output", ["text", "json", "yaml"])
def test_what_is_not_there_is_an_error_in_every_format(kres: Kres, flags: str, said: str, output: str):
    code, out, err = kres(f"{CHECKOUT} {flags} -o {output}")
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == f"error: {said}"


def test_one_task_of_a_run(kres: Kres):
    whole = item(kres, RUN)
    name = whole["tasks"][-1]["name"]
    found = item(kres, f"{RUN} -c {name}")
    assert found["tasks"] == whole["tasks"][-1:]
    assert "atOnce" not in found
    code, _, err = kres(f"{RUN} -c nope -o json")
    assert (code, "has no task" in err) == (2, True)
