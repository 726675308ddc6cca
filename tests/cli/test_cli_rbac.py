"""``version --rbac``: the roles that commands need."""

from __future__ import annotations

import json

import pytest
import yaml
from cli.running import Kres

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.reports.common.rbac import COMMANDS, WATCHED


def test_all_commands(kres: Kres):
    code, out, err = kres("version --rbac")
    assert (code, err) == (0, "")
    cluster, tekton = yaml.safe_load_all(out)
    assert (cluster["kind"], tekton["kind"], tekton["metadata"]["namespace"]) == (
        "ClusterRole",
        "Role",
        "tekton-pipelines",
    )
    granted = {resource for rule in cluster["rules"] for resource in rule["resources"]}
    assert {"pods", "limitranges", "resourcequotas", "events", "resourcepools", "taskruns", "nodes"} <= granted
    assert "secrets" not in out and "*" not in out
    assert {verb for rule in cluster["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    assert json.loads(kres("version --rbac -o json").out)["items"] == [cluster, tekton]


def test_one_namespace(kres: Kres):
    cluster, role, tekton = yaml.safe_load_all(kres("version --rbac explain -n shop").out)
    assert role["metadata"] == {"name": "kubectl-kres", "namespace": "shop"}
    assert {plural for rule in cluster["rules"] for plural in rule["resources"]} & {"pods", "limitranges"} == set()
    assert ["pods"] in [rule["resources"] for rule in role["rules"]]
    assert tekton["rules"][0]["resourceNames"]


def test_one_command_needs_less(kres: Kres):
    out = kres("version --rbac claims").out
    cluster, tekton = yaml.safe_load_all(out)
    needed = [rule["resources"][0] for rule, text in zip(cluster["rules"], out.split("\n- ")[1:], strict=False)
              if "  # + " not in text]  # fmt: skip
    assert needed == ["resourcepoolclaims"]
    assert "services" not in out and tekton["metadata"]["namespace"] == "tekton-pipelines"
    assert any(
        "watch" in rule["verbs"]
        for role in yaml.safe_load_all(kres("version --rbac tui").out)
        for rule in role["rules"]
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("version --rbac completion", "--rbac takes explain, quota"),
        ("version --rbac --client", "exclude each other"),
        ("version explain", "version takes no arguments"),
    ],
)
def test_usage(kres: Kres, words: str, why: str):
    code, out, err = kres(words)
    assert (code, out) == (2, "")
    assert why in err


def test_kinds_are_known():
    assert all(BY_KIND[right.kind].plural for rights in COMMANDS.values() for right in rights)


def test_what_watches_may_watch(kres: Kres):
    """The commands with ``-w``, and no others, and the terminal interface."""
    for command in COMMANDS:
        repeats = "--watch" in kres(f"{command} --help").out
        verbs = {
            verb
            for role in yaml.safe_load_all(kres(f"version --rbac {command}").out)
            for rule in role["rules"]
            for verb in rule["verbs"]
        }
        assert ("watch" in verbs) is (repeats or command == "tui"), command
        assert repeats is (command in WATCHED)


def test_what_is_read_by_its_name_alone_is_not_watched(kres: Kres):
    for role in yaml.safe_load_all(kres("version --rbac").out):
        for rule in role["rules"]:
            assert "watch" not in rule["verbs"] or ("list" in rule["verbs"] and "resourceNames" not in rule)
