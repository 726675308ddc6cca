"""What is told of files: each object once, of which one, and the same by every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.running import Kres

QUOTA = """apiVersion: v1
kind: ResourceQuota
metadata: {name: q}
spec: {hard: {requests.cpu: "1", services: "0"}}
---
"""
SERVICE = """apiVersion: v1
kind: Service
metadata: {name: svc}
spec: {ports: [{port: 80}]}
---
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: a, image: i, resources: {requests: {cpu: "2"}}}]}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "all.yaml"
    path.write_text(QUOTA + SERVICE + POD)
    return str(path)


def test_services_are_answered_for_beside_pods(kres: Kres, file: str):
    out = kres("explain", "-f", file, "--offline").out
    assert 'pods "p" is forbidden: exceeded quota: q' in out
    assert 'services "svc" is forbidden: exceeded quota: q' in out


OTHERS = """---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, labels: {app: web}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: d, labels: [no, map]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: h}
"""


@pytest.mark.parametrize(
    ("held", "more", "last"),
    [
        pytest.param(QUOTA + POD, (), "not looked at: 2 ConfigMap, 1 PodDisruptionBudget", id="beside one object"),
        pytest.param(SERVICE + POD, (), "not looked at: 2 ConfigMap, 1 PodDisruptionBudget", id="beside several"),
        pytest.param(QUOTA, (), "not looked at: 2 ConfigMap, 1 PodDisruptionBudget", id="beside policies"),
        pytest.param(POD.replace("p}", "p, labels: {app: web}}"), ("-l", "app=web"), "not looked at: 1 ConfigMap",
                     id="chosen by labels"),
        pytest.param(POD, ("-o", "name"), "pod/p", id="names alone"),
    ],
)  # fmt: skip
def test_what_was_left_out_is_told_last(kres: Kres, tmp_path: Path, held: str, more: tuple[str, ...], last: str):
    path = tmp_path / "all.yaml"
    path.write_text(held.removesuffix("---\n") + OTHERS)
    assert kres("explain", "-f", str(path), "--offline", *more).out.splitlines()[-1] == last


def test_a_quota_of_a_file_is_taken_as_enforced_by_every_command(kres: Kres, file: str):
    for command in ("explain", "quota"):
        out = kres(command, "-f", file, "--offline").out
        assert "taken as enforced, with nothing used" in out.replace("\n  ", " ")
        assert "enforces nothing" not in out


def test_a_difference_names_the_object_that_is_refused(kres: Kres, file: str):
    assert kres("diff", "-f", file, "--offline").out.startswith("# refused: default/Pod/p: pods ")


CLAIMED = """apiVersion: v1
kind: ResourceQuota
metadata: {name: q}
spec: {hard: {requests.cpu: "1", requests.storage: 5Gi, services: "0"}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: app, image: i, resources: {requests: {cpu: "2"}}}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: small}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
"""


@pytest.mark.parametrize("beside", ["", POD], ids=["alone", "in a list"])
@pytest.mark.parametrize("command", ["explain", "qos", "diff"])
def test_every_command_names_the_claim_that_is_refused(kres: Kres, tmp_path: Path, command: str, beside: str):
    """It comes before the pod, which is refused, too."""
    path = tmp_path / "db.yaml"
    path.write_text(f"{CLAIMED}{SERVICE}{beside}")
    items = json.loads(kres(command, "-f", str(path), "--offline", "-o", "json").out)["items"]
    [found] = [one for one in items if one["subject"]["kind"] == "StatefulSet"]
    said = found["refused"] if command == "qos" else found["verdict"]["message"]
    assert said.startswith('persistentvolumeclaims "data-db-0" is forbidden: exceeded quota: q')


def test_a_line_of_a_list_counts_what_claims_refuse(kres: Kres, tmp_path: Path):
    path = tmp_path / "db.yaml"
    path.write_text(CLAIMED.replace('cpu: "2"', "cpu: 100m") + POD.replace('"2"', "100m"))
    assert kres("qos", "-f", str(path), "--offline").out.endswith("1 would be refused\n")


def test_a_difference_tells_of_claims_and_services_that_are_refused(kres: Kres, tmp_path: Path):
    path = tmp_path / "db.yaml"
    path.write_text(f"{CLAIMED}{SERVICE}{POD}".replace("name: small", "name: big").replace("1Gi", "20Gi"))
    result = kres("diff", "-f", str(path), "--offline")
    heads = [line.partition(": ")[2].partition(": ")[0] for line in result.out.splitlines() if "# refused" in line]
    assert (result.code, sorted(heads)) == (1, [
        "default/PersistentVolumeClaim/big", "default/Pod/p", "default/Service/svc", "default/StatefulSet/db",
    ])  # fmt: skip
    path.write_text(CLAIMED.replace("10Gi", "1Gi").replace('"2"', "100m"))
    assert "PersistentVolumeClaim" not in kres("diff", "-f", str(path), "--offline").out


def test_a_file_without_apiversion(kres: Kres, tmp_path: Path):
    path = tmp_path / "pod.yaml"
    path.write_text(POD.partition("\n")[2])
    result = kres("explain", "-f", str(path), "--offline")
    assert (result.code, result.err) == (2, f"error: {path}:1:7: error validating data: apiVersion not set\n")


def test_one_container_begins_with_its_table(kres: Kres, file: str):
    assert kres("explain", "-f", file, "--offline", "-c", "a").out.startswith("container a ")


def test_a_service_beside_several_workloads_is_a_line_as_they_are(kres: Kres, tmp_path: Path):
    (tmp_path / "two.yaml").write_text(SERVICE + POD + "---\n" + POD.replace("name: p", "name: other"))
    lines = kres("explain", "-f", str(tmp_path / "two.yaml"), "--offline").out.splitlines()
    assert lines[0].split() == ["NAMESPACE", "NAME", "QOS", "OUTCOME", "WHY"]
    assert [line.split()[1] for line in lines[1:4]] == ["pod/p", "pod/other", "service/svc"]
    assert lines[4:] == [
        "3 objects: 3 admitted",
        "together: all of it fits",
        "  NAME   FITS",
        "  p      1 of 1",
        "  other  1 of 1",
    ]


def test_quotas_of_files_are_shown_wherever_they_are(kres: Kres, tmp_path: Path):
    (tmp_path / "far.yaml").write_text(QUOTA.replace("name: q", "name: q, namespace: far"))
    for where in ("", "-n far", "-A"):
        assert kres(f"quota --offline {where}", "-f", str(tmp_path / "far.yaml")).out.startswith("quota q in far\n")
    assert kres("quota --offline -n near", "-f", str(tmp_path / "far.yaml")).code == 2


class TestUnusable:
    """One unusable document of a directory does not silence the others."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> str:
        (tmp_path / "a.yaml").write_text(f"{POD}---\nkind: Gateway\nmetadata: {{}}\n")
        (tmp_path / "b.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {containers: 1}\n")
        (tmp_path / "kustomization.yaml").write_text("kind: Kustomization\nresources: [a.yaml]\n")
        return str(tmp_path)

    def test_the_rest_is_answered_and_what_was_left_out_is_named(self, kres: Kres, folder: str):
        found = kres("explain", "-f", folder, "--offline")
        assert "Pod/p" in found.out
        assert found.err.splitlines() == [
            f"error: {folder}/a.yaml:7:11: Gateway without a name: metadata.name may not be empty",
            f"error: {folder}/kustomization.yaml:1:1: Kustomization without a name: metadata.name may not be empty",
            f'error: {folder}/b.yaml:4:20: Pod/b: spec.containers: invalid type: got "integer", expected "array"',
            "The answer is given without what is named above.",
        ]
        assert found.code == 4

    def test_the_document_is_not_complete(self, kres: Kres, folder: str):
        found = kres("explain", "-f", folder, "--offline", "-o", "json")
        assert json.loads(found.out)["metadata"]["complete"] is False

    @pytest.mark.parametrize("command", ["explain", "qos", "diff"])
    def test_partial_answers_can_be_allowed(self, kres: Kres, folder: str, command: str):
        assert kres(command, "-f", folder, "--offline", "--allow-partial").code == 0

    def test_without_anything_usable_there_is_no_answer(self, kres: Kres, tmp_path: Path):
        (tmp_path / "kustomization.yaml").write_text("kind: Kustomization\n")
        found = kres("explain", "-f", str(tmp_path), "--offline")
        assert (found.code, found.out) == (2, "")

    def test_objects_of_another_namespace_are_left_out(self, kres: Kres, tmp_path: Path):
        path = tmp_path / "all.yaml"
        path.write_text(f"{POD}---\n{POD.replace('name: p', 'name: other, namespace: away')}")
        found = kres("explain", "-f", str(path), "--offline", "-n", "shop")
        assert (found.code, "Pod/p" in found.out) == (4, True)
        assert 'the namespace from the provided object "away" does not match the namespace "shop".' in found.err

    def test_a_key_given_twice_is_told(self, kres: Kres, tmp_path: Path):
        path = tmp_path / "p.yaml"
        path.write_text(POD.replace("image: i", "image: i, image: j"))
        found = kres("explain", "-f", str(path), "--offline")
        assert found.err.startswith(f'Warning: {path}:4:41: key "image" is given twice: as in kubectl, the last')
        assert found.code == 0


@pytest.mark.parametrize("kind", ["Deployment", "Job", "CronJob", "StatefulSet"])
def test_a_workload_without_a_template_is_refused_in_the_servers_words(kres: Kres, tmp_path: Path, kind: str):
    spec = {"schedule": "* * * * *"} if kind == "CronJob" else {}
    version = "batch/v1" if "Job" in kind else "apps/v1"
    file = tmp_path / "bare.json"
    file.write_text(json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": "d"}, "spec": spec}))
    found = kres(f"explain -f {file} --offline --exit-code")
    assert found.code == 1
    assert "template.spec.containers: Required value" in found.out


@pytest.mark.parametrize("arguments", [["expl\nain"], ["explain", "--demo", "pods", "-o", "js\non\x1b[1m"]])
def test_an_argument_is_quoted_on_one_line(kres: Kres, arguments: list[str]):
    found = kres("", *arguments)
    assert found.code == 2
    assert "\x1b" not in found.err
    assert "l\\nain" in found.err or "js\\non\\x1b[1m" in found.err


def test_objects_of_one_name_are_told_apart_by_their_kind(kres: Kres, tmp_path: Path):
    made = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "p", "namespace": "shop"}}
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
    (tmp_path / "two.yaml").write_text(POD + "---\n" + json.dumps({**made, "spec": spec}))
    lines = kres("explain", "-f", str(tmp_path / "two.yaml"), "--offline").out.splitlines()
    assert {line.split()[0] for line in lines if line.endswith("1 of 1")} == {"Pod/p", "Job/p"}
