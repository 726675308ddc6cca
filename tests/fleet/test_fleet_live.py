"""``fleet --contexts``: live clusters side by side, each with its own time; those without an answer are rows."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.apiserver import Api, Said
from fleet.conftest import QUOTA, Fleet, documented

from kubectl_kres.cli.commands import fleet as command
from kubectl_kres.fleet.supervisor import run_tasks
from kubectl_kres.fleet.task import FleetTask


@pytest.mark.thorough
def test_a_cluster_that_may_not_be_read_or_reached_is_a_row(kres: Fleet, servers: Callable[..., list[Api]]):
    good, denied, broken, unauthorized = servers("good", "denied", "broken", "unauthorized", gone="http://127.0.0.1:1")
    denied.denied = {"resourcequotas"}
    broken.faults = {"resourcequotas": Said(500, {"kind": "Status", "code": 500, "message": "etcd is gone"})}
    unauthorized.faults = {"resourcequotas": Said(401, {"kind": "Status", "code": 401, "message": "Unauthorized"})}
    result = kres("fleet quota --contexts * -o json")
    assert result.code == 4
    found = documented(result)
    assert {name: one["state"] for name, one in found.items()} == {
        "good": "answered",
        "denied": "denied",
        "broken": "failed",
        "unauthorized": "denied",
        "gone": "unreachable",
    }
    assert 'cannot list resource "resourcequotas"' in found["denied"]["message"]
    assert found["good"]["figures"] == {
        "quotas": 1,
        "full": 1,
        "nearly-full": 0,
        "percent": 100,
        "namespace": "shop",
        "quota": "team",
        "resource": "requests.memory",
    }
    assert (found["good"]["server"], found["good"]["serverVersion"]) == (good.url, "v1.33.2")
    table = kres("fleet quota --contexts *").out.splitlines()
    assert [line.split()[0] for line in table[1:6]] == ["gone", "denied", "unauthorized", "broken", "good"]


@pytest.mark.parametrize(("report", "single"), [("qos", "qos -A --summary"), ("quota", "quota -A")])
def test_figures_are_those_of_single_runs(report: str, single: str, kres: Fleet, servers: Callable[..., list[Api]]):
    servers("one", "two")
    items: list[dict[str, Any]] = json.loads(kres(f"{single} --context two -o json").out)["items"]
    figures = documented(kres(f"fleet {report} --contexts t* -o json"))["two"]["figures"]
    if report == "qos":
        whole = items[-1]
        assert (
            (figures["pods"], figures["requests.memory"]) == (whole["pods"], whole["requests"]["memory"]) == (2, "1Gi")
        )
    else:
        assert (figures["quotas"], figures["percent"]) == (len(items), items[0]["uses"][0]["percent"])


def test_two_contexts_of_one_cluster_are_said_and_counted_once(kres: Fleet, servers: Callable[..., list[Api]]):
    (one,) = servers("admin")
    servers_again = json.loads(Path("kubeconfig").read_text())
    servers_again["contexts"].append({"name": "dev", "context": {"cluster": "admin", "user": "admin"}})
    Path("kubeconfig").write_text(json.dumps(servers_again))
    result = kres("fleet qos --contexts * -o json")
    assert result.code == 0
    assert f"dev is the same cluster as admin ({one.url}): it is counted once" in result.err
    found = documented(result)
    assert [*found] == ["admin"]
    assert found["admin"]["aliases"] == ["dev"]


def test_a_namespace_is_enough_for_those_who_may_not_list_all(kres: Fleet, servers: Callable[..., list[Api]]):
    (api,) = servers("one")
    api.objects.append({**QUOTA, "metadata": {"name": "team", "namespace": "other"}})
    found = documented(kres("fleet quota --contexts one -n shop -o json"))
    assert found["one"]["figures"]["quotas"] == 1


def test_a_cluster_that_never_answers_takes_its_own_time_and_no_other(servers: Callable[..., list[Api]]):
    hangs, good, late = servers("hangs", "good", "late")
    goes_on = threading.Event()
    hangs.before = lambda path: goes_on.wait()
    tasks = [
        FleetTask(
            name, "quota", name, {"context": name, "all_namespaces": True}, seconds=1.0 if name == "hangs" else 600.0
        )
        for name in ("hangs", "good", "late")
    ]
    found = {one.cluster: one for one in run_tasks(tasks, command._command(), width=2)}
    goes_on.set()
    assert {name: one.state for name, one in found.items()} == {
        "hangs": "timed-out",
        "good": "answered",
        "late": "answered",
    }
    assert good.asked and late.asked
