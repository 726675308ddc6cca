"""``kubectl kres overview``, and the program without a command where it is not on a terminal."""

from __future__ import annotations

import json

import pytest
from cli.apiserver import Api, pod
from cli.running import Kres


def test_the_overview_of_the_example(kres: Kres):
    code, out, err = kres("overview --demo")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "overview of all namespaces (19)"
    worst = lines.index("worst first   x wrong   ! watch   ? unknown")
    assert lines[worst + 1] == "x checkout/Deployment/checkout refused, 3 of 3 new pods missing, 3 old pods run"
    assert lines[worst + 2] == "  quota team is short by 512Mi of requests.memory (for 2m)"
    assert any(line.startswith("  fix  raise requests.memory of quota team") for line in lines)
    assert max(map(len, (line for line in lines if "kubectl" not in line))) <= 80


@pytest.mark.parametrize("command", ["overview", "check --fail-on never", "timeline", "quota"])
def test_the_pages_of_the_example_fit_on_a_screen(kres: Kres, command: str):
    short, whole = (kres(f"{command} --demo{flag}").out.splitlines() for flag in ("", " --all"))
    assert len(short) <= 40 and len(whole) > 100
    assert any(line.endswith(" more: --all") for line in short)
    assert not any("--all" in line for line in whole)


def test_workloads_are_counted_once(kres: Kres):
    """What is refused waits, too; the row counts it under one of both."""
    [found] = json.loads(kres("overview --demo -o json").out)["items"]
    parts = {part["state"]: part["count"] for part in found["workloads"]["parts"]}
    counted = {area["name"]: {part["state"]: part["count"] for part in area["parts"]} for area in found["areas"][:2]}
    assert sum(parts.values()) == found["workloads"]["count"]
    assert parts["refused"] == counted["refused"]["refused"]
    assert parts["running"] == counted["running"]["run"] and parts["waiting"] < counted["running"]["wait"]
    assert "workloads     45" in kres("overview --demo").out


def test_where_nothing_is_wrong_it_says_what_is_elsewhere(kres: Kres):
    out = kres("overview --demo -n default").out
    assert "nothing here that takes or limits compute resources" in out
    assert "elsewhere 9 workloads (of 24) do not have all their pods ready: in checkout,\n  previews, staging" in out
    assert "\n  next kubectl kres overview -A --demo\n" in out
    assert "elsewhere" not in kres("overview --demo -n shop").out


def test_other_namespaces_are_read_only_where_none_is_asked_for_and_denied_is_not_said(kres: Kres, api: Api):
    lacks = {"replicas": 0, "readyReplicas": 0}
    template = {"spec": {"containers": [{"name": "app", "image": "app"}]}}
    api.objects.append(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "other"},
            "spec": {"replicas": 1, "template": template},
            "status": lacks,
        }
    )
    said = "elsewhere 1 workload (of 1) does not have all its pods ready: in other"
    assert said in kres("overview").out
    assert "elsewhere" not in kres("overview -n shop").out
    api.denied = {"list deployments"}
    assert "elsewhere" not in kres("overview").out


@pytest.mark.parametrize(("words", "said"), [("", "-A"), (" -n shop", "-n shop")])
def test_it_leads_to_the_findings(kres: Kres, words: str, said: str):
    last = kres(f"overview --demo{words}").out.splitlines()[-1]
    assert last == f"what will break next: kubectl kres check {said} --demo"
    assert kres(last.partition(": kubectl kres ")[2]).out


def test_counts_agree_with_the_commands_of_the_areas(kres: Kres):
    _, out, _ = kres("overview --demo -o json")
    [found] = json.loads(out)["items"]
    counts = {area["name"]: area.get("count") for area in found["areas"]}
    for name, command in [
        ("refused", "quota --denied -A"),
        ("quotas", "quota -A"),
        ("pools", "pools"),
        ("claims", "claims -A"),
        ("taskruns", "explain taskruns -A"),
        ("pods", "qos pods -A"),
    ]:
        _, listed, _ = kres(f"{command} --demo -o name")
        assert len(listed.splitlines()) == counts[name]


def test_of_one_namespace(kres: Kres):
    code, out, _ = kres("overview --demo -n shop --exit-code")
    assert code in {0, 1}
    assert out.startswith("overview of namespace shop\n")
    assert "checkout/" not in out


def test_its_exit_code_tells_faults(kres: Kres):
    assert kres("overview --demo --exit-code")[0] == 1
    assert kres("overview --demo -n default --exit-code")[0] == 0


@pytest.mark.parametrize("text", ["--demo", "-n shop --demo"])
def test_without_a_terminal_and_a_command_it_is_printed(kres: Kres, text: str):
    assert kres(text) == kres(f"overview {text}")


def test_it_takes_no_names(kres: Kres):
    code, _, err = kres("overview pods --demo")
    assert code == 2
    assert 'overview takes no names, not "pods"' in err


def test_the_commands_that_say_more_look_at_the_same_source(kres: Kres):
    more = [line for line in kres("overview -A --demo --all").out.splitlines() if line.startswith("  next ")]
    assert len(more) > 5
    assert all(line.endswith(" --demo") for line in more)


def test_a_waiting_pod_that_may_not_be_read_by_name_makes_it_partial(kres: Kres, api: Api):
    """What nodes say to it is not known then; a list of pods holds too little for that."""
    waits = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}
    api.objects += [
        {**pod("w", "1Gi"), "status": {"phase": "Pending", "conditions": [waits]}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"memory": "1Mi"}}},
    ]
    assert kres("overview").code == 0
    api.denied = {"get pods"}
    code, out, err = kres("overview")
    assert code == 4 and 'User "eve" cannot get resource "pods"' in out + err
    assert "The answer is given without the Pod w of namespace shop." in err
    assert json.loads(kres("overview -o json").out)["metadata"]["complete"] is False


def test_what_waits_in_a_queue_has_the_fix_of_its_explanation(kres: Kres):
    out = " ".join(kres("overview --demo -n media-render").out.split())
    assert "name LocalQueue render in label kueue.x-k8s.io/queue-name of Job/trailer: it is admitted then" in out
    assert "kubectl label job trailer -n media-render kueue.x-k8s.io/queue-name=render --overwrite" in out
