"""``kubectl_kres.api``: the commands' answers as values, from whatever object a caller has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli.apiserver import Api, Said, deployment, kubeconfig, pod
from cli.running import Kres

import kubectl_kres.api as kres
from kubectl_kres.api.question import to_plain_data
from kubectl_kres.api.testing import assert_admitted
from kubectl_kres.errors import Forbidden, InputError, NotFound, SnapshotError, UsageError
from kubectl_kres.reports.changes.notes import StepRemark

NGINX = Path(__file__).parents[2] / "docs" / "examples" / "nginx.yaml"
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "app", "image": "x", "resources": {"limits": {"memory": "1Gi"}}}]},
}
DEFAULTS = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "defaults"},
    "spec": {"limits": [{"type": "Container", "default": {"cpu": "500m"}, "max": {"memory": "2Gi"}}]},
}
ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reads"}, "rules": []}
TEAM = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "team"},
    "spec": {"hard": {"requests.memory": "512Mi"}},
}


def test_a_workload_of_the_demo():
    answer = kres.explain("deploy/checkout", namespace="checkout", cluster=kres.demo())
    assert (answer.outcome, answer.admitted, answer.complete, answer.missing) == ("refused", False, True, ())
    assert answer.refusal.startswith('pods "checkout" is forbidden: exceeded quota: team')
    assert answer.qos_class == "Burstable"
    assert any("requests.memory" in text for text in answer.fixes)
    assert answer.values["app.limits.memory"] == kres.Value("1Gi", "1Gi", "Deployment/checkout", "manifest/written")
    assert answer.values["migrate.requests.cpu"].rule == "defaulting/request-from-limit"


@pytest.mark.parametrize(
    ("command", "make"),
    [
        ("explain", lambda demo: kres.explain("deploy/checkout", namespace="checkout", cluster=demo)),
        ("qos", lambda demo: kres.qos("deploy/checkout", namespace="checkout", cluster=demo)),
        ("diff", lambda demo: kres.diff("deploy/checkout", namespace="checkout", cluster=demo)),
        ("quota --fit", lambda demo: kres.fit("deploy/checkout", namespace="checkout", cluster=demo)),
    ],
)
def test_answers_are_those_of_the_commands(run: Kres, command: str, make: Any):
    answer = make(kres.demo())
    printed = run(f"{command} deploy/checkout --demo -n checkout -o json")
    assert answer.document() == json.loads(printed.out)
    whole = " --all" if command in {"explain", "qos"} else ""
    assert run(f"{command} deploy/checkout --demo -n checkout{whole}").out == f"{answer}\n"


def test_quotas_and_claims_are_those_of_the_commands(run: Kres):
    demo = kres.demo()
    quotas = json.loads(run("quota --demo -n checkout --by workload -o json").out)["items"]
    assert [answer.to_dict() for answer in kres.quota(demo, "checkout", by="workload")] == quotas
    recounted = json.loads(run("quota --demo -n shop --recount -o json").out)["items"]
    assert [answer.to_dict() for answer in kres.quota(demo, "shop", recount=True)] == recounted
    waiting = {answer.report.subject.name: answer.report.state for answer in kres.claims(demo, "ml-training")}
    assert waiting["sweep"] == "exhausted"
    assert kres.claims(demo, "shop") == []


def test_findings_are_those_of_the_command(run: Kres):
    printed = json.loads(run("check --demo -n checkout --fail-on never -o json").out)["items"]
    found = [answer.to_dict() for answer in kres.check(cluster=kres.demo(), namespace="checkout")]
    assert uncommanded(found) == uncommanded(printed) and len(found) > 3
    (*_, some) = kres.check(cluster=kres.demo(), namespace="checkout", select=["kres1"], ignore=["KRES102"])
    assert some.report.code == "KRES101" and str(some).startswith("error KRES101 checkout/Deployment/")
    beside = kres.check(cluster=kres.demo(), namespace="nowhere")
    assert all(not one.report.object.namespace for one in beside)


def test_findings_of_what_is_passed():
    bounds = {**DEFAULTS, "spec": {"limits": [{"type": "Container", "max": {"memory": "512Mi"}}]}}
    (refused,) = kres.check(POD, policies=[bounds], select=["KRES101"])
    assert "maximum memory usage per Container is 512Mi" in refused.report.message
    assert kres.check(POD, policies=[DEFAULTS], select=["KRES101"]) == []
    with pytest.raises(UsageError, match="no rule has this code"):
        kres.check(POD, policies=[], select=["KRES999"])
    with pytest.raises(UsageError, match="check needs items, or a cluster"):
        kres.check()


def uncommanded(found: Any) -> Any:
    """Without commands: those of the command line look at the same source."""
    return [{key: value for key, value in one.items() if key != "commands"} for one in found]


def test_a_change_is_played_as_by_the_command(run: Kres):
    answer = kres.simulate(cluster=kres.demo(), namespace="shop", scale={"deploy/cart": 9})
    printed = json.loads(run("simulate --demo --scale deploy/cart=9 -n shop -o json").out)["items"][0]
    assert unlabelled(answer.to_dict()) == unlabelled(printed)
    bound = {**DEFAULTS, "spec": {"limits": [{"type": "Container", "max": {"memory": "16Mi"}}]}}
    assert kres.simulate(bound, cluster=kres.demo(), namespace="shop").report.outcome == "worse"
    gone = kres.simulate(cluster=kres.demo(), namespace="checkout", delete=["quota/team"])
    assert gone.report.outcome == "better"
    with pytest.raises(UsageError, match="simulate needs a change"):
        kres.simulate(cluster=kres.demo())


@pytest.mark.thorough
def test_rollouts_are_a_change_of_their_own():
    def stalled(rollouts):
        report = kres.simulate(cluster=kres.demo(), namespace="shop", rollouts=rollouts).report
        return {one.subject.name: len(one.rollout_after.concurrent) for one in report.workloads}

    assert stalled(1) == {"catalog": 0, "cart": 0}
    assert stalled(3) == {"catalog": 0, "cart": 0, "recommendations": 2, "search": 2}
    for rollouts, words in ((0, "needs a change"), (-1, "-1 is no number of rollouts")):
        with pytest.raises(kres.KresError, match=words):
            kres.simulate(cluster=kres.demo(), namespace="shop", rollouts=rollouts)


def test_what_a_simulation_does_not_follow_is_named() -> None:
    metadata = {"name": "x", "namespace": "shop"}
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata}
    answer = kres.simulate(widget, cluster=kres.demo())
    assert not answer.report.complete
    assert [item.kind for item in answer.report.unread] == ["Widget"]
    assert answer.missing == ("whether a Widget of example.com makes pods is not known",)
    old = {"apiVersion": "extensions/v1beta1", "kind": "Deployment", "metadata": metadata}
    assert [step.message for step in kres.simulate(old, cluster=kres.demo()).report.steps] == [
        'no matches for kind "Deployment" in version "extensions/v1beta1"'
    ]
    task = {"name": "a", "template": {"spec": {"containers": [{"name": "c", "image": "x"}]}}}
    volcano = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"tasks": [task]},
    }
    report = kres.simulate(volcano, cluster=kres.demo()).report
    assert "VolcanoJob/x-a" in [str(item.subject) for item in report.workloads]
    assert StepRemark("queued", "VolcanoJob", "x") in report.notes


def unlabelled(found: Any) -> Any:
    """Without how a step was written."""
    if isinstance(found, dict):
        return {key: unlabelled(value) for key, value in found.items() if key not in {"label", "notes"}}
    return [unlabelled(value) for value in found] if isinstance(found, list) else found


def test_a_name_without_a_namespace_is_found_where_it_is():
    assert kres.explain("deploy/checkout", cluster=kres.demo()).report.subject.namespace == "checkout"
    with pytest.raises(NotFound):
        kres.explain("deploy/none", cluster=kres.demo())


def test_policies_alone():
    answer = kres.explain(POD, policies=[DEFAULTS])
    assert answer.outcome == "admitted"
    assert answer.values["app.limits.cpu"] == kres.Value(None, "500m", "LimitRange/defaults", "limitrange/default")
    refused = kres.explain(POD, policies=[DEFAULTS, TEAM])
    assert "exceeded quota: team" in refused.refusal
    assert "app.limits.cpu" not in kres.explain(POD, policies=[]).values


def test_policies_lie_over_the_clusters_for_one_answer():
    demo = kres.demo()
    before = kres.explain(POD, namespace="shop", cluster=demo).to_dict()
    tight = {**TEAM, "metadata": {"name": "new", "namespace": "shop"}}
    assert "exceeded quota: new" in kres.explain(POD, namespace="shop", cluster=demo, policies=[tight]).refusal
    assert kres.explain(POD, namespace="shop", cluster=demo).to_dict() == before


def test_files_and_several_objects():
    demo = kres.demo()
    (answer,) = kres.explain_all([NGINX], namespace="shop", cluster=demo)
    assert kres.explain(str(NGINX), namespace="shop", cluster=demo).to_dict() == answer.to_dict()
    assert len(kres.explain_all([NGINX, POD, "deploy/cart"], namespace="shop", cluster=demo)) == 3
    with pytest.raises(UsageError, match="2 objects, one was expected"):
        kres.explain({"apiVersion": "v1", "kind": "List", "items": [POD, POD]}, cluster=demo)


def test_versions():
    assert kres.explain(POD, policies=[], kube_version="1.30").admitted
    with pytest.raises(UsageError, match="is no version"):
        kres.explain(POD, policies=[], kube_version="new")


class Raw:
    """As kr8s and kopf have them."""

    def __init__(self, name: str, value: Any) -> None:
        setattr(self, name, value)


class Typed:
    """As lightkube has them."""

    def to_dict(self) -> dict[str, Any]:
        return {**POD, "status": None, "spec": {**POD["spec"], "nodeName": None}}


@pytest.mark.parametrize("item", [Raw("raw", POD), Raw("obj", POD), Typed()], ids=["kr8s", "pykube", "lightkube"])
def test_objects_of_clients(item: Any):
    assert to_plain_data(item)["spec"] == POD["spec"]
    assert (
        kres.explain(item, policies=[DEFAULTS]).to_dict()["containers"]
        == (kres.explain(POD, policies=[DEFAULTS]).to_dict()["containers"])
    )


@pytest.mark.parametrize("item", [7, object(), None, [POD], b"x"])
def test_what_is_no_object(item: Any):
    with pytest.raises(UsageError, match="a Kubernetes client"):
        kres.explain(item, policies=[])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: kres.explain(POD), UsageError, "neither cluster= nor policies="),
        (lambda: kres.explain("deploy/web", policies=[]), UsageError, "a name needs a cluster"),
        (lambda: kres.explain("web", cluster=kres.demo()), UsageError, "neither a file nor TYPE/NAME"),
        (lambda: kres.explain({"kind": "Pod"}, policies=[]), UsageError, "^object: Pod without a name"),
        (lambda: kres.explain({**POD, "apiVersion": ""}, policies=[]), InputError, "apiVersion not set"),
        (lambda: kres.qos(DEFAULTS, policies=[]), UsageError, "there is no pod"),
        (lambda: kres.explain(ROLE, policies=[]), UsageError, "there is no pod"),
        (lambda: kres.explain({**POD, "spec": {"containers": 3}}, policies=[]), InputError, "spec.containers"),
        (lambda: kres.explain(POD, cluster=kres.open_snapshot("none.kres")), SnapshotError, "none.kres"),
        (lambda: kres.open_cluster(object()), UsageError, "ApiClient was expected"),
        (lambda: kres.explain("none.yaml", policies=[]), InputError, "none.yaml"),
    ],
)
def test_faults(call: Any, error: type[Exception], text: str):
    with pytest.raises(error, match=text):
        call()


def test_assert_admitted(tmp_path: Path):
    assert_admitted(POD, policies=[DEFAULTS])
    with pytest.raises(AssertionError) as caught:
        assert_admitted([POD, POD], policies=[TEAM])
    text = str(caught.value)
    assert text.startswith("2 of 2 objects would not be admitted\n\nrefused: default/Pod/web: quota team")
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(POD).replace("1Gi", "64Mi"))
    assert_admitted(tmp_path / "pod.yaml", cluster=kres.demo(), namespace="shop")
    snapshot = Path(kres.__file__).parents[1] / "demo" / "shop.kres"
    with pytest.raises(AssertionError, match=r"requests\.memory"):
        assert_admitted("deploy/checkout", snapshot=snapshot, namespace="checkout")
    with pytest.raises(UsageError, match="exclude each other"):
        assert_admitted(POD, snapshot=snapshot, cluster=kres.demo())


def test_a_cluster(api: Api, tmp_path: Path):
    api.objects += [deployment("web", "2Gi"), pod("old", "1Gi")]
    cluster = kres.open_cluster(kubeconfig=kubeconfig(tmp_path, api.url))
    assert api.asked == []
    assert_each_answer_reads_anew(api, cluster)


def assert_each_answer_reads_anew(api: Api, cluster: kres.Cluster):
    answer = kres.explain("deploy/web", cluster=cluster)
    assert "maximum memory usage per Container is 1Gi" in answer.refusal
    assert answer.document()["metadata"]["serverVersion"] == "v1.33.2"
    assert kres.explain(POD, cluster=cluster).admitted
    api.objects.append(
        {
            **TEAM,
            "metadata": {"name": "team", "namespace": "shop"},
            "status": {"hard": {"requests.memory": "512Mi"}, "used": {"requests.memory": "0"}},
        }
    )
    assert "team" in kres.explain(POD, cluster=cluster).refusal, "each answer reads anew"
    with pytest.raises(NotFound):
        kres.explain("deploy/none", cluster=cluster)


IMPORT = """
import resource, sys
import kubectl_kres.api, kubectl_kres.api.testing
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, *sys.modules)
"""


def test_workloads_that_may_not_be_read_are_not_taken_for_none(api: Api):
    api.denied = {"deployments"}
    with pytest.raises(Forbidden, match="deployments is forbidden"):
        kres.denied(kres.open_cluster(namespace="shop"))
    with pytest.raises(Forbidden, match="deployments is forbidden"):
        kres.denied(kres.open_cluster(namespace="shop"), all_namespaces=True)


def test_importing_it_is_cheap():
    """Of several runs the best: others only show what else the machine does."""
    runs = [
        subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(5)
    ]
    loaded = set(runs[0][1:])
    assert not loaded & {"textual", "rich", "click", "pydantic", "urllib3", "kubernetes", "yaml"}
    assert not any(name.startswith(("kubectl_kres.cli", "kubectl_kres.tui", "kubectl_kres.reports")) for name in loaded)
    assert min(float(run[0]) for run in runs) <= 0.1


def test_what_is_public_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    functions = [name for name in kres.__all__ if name[0].islower()]
    assert [name for name in functions if f"`{name}" not in page and f".{name}(" not in page] == []


def test_what_could_not_be_read_is_in_every_answer(api: Api):
    api.objects += [deployment("web", "1Gi")]
    api.denied, api.faults = {"pods"}, {"events": Said(500, {"kind": "Status", "message": "it says 500", "code": 500})}
    cluster = kres.open_cluster(namespace="shop")
    answer = kres.explain("deploy/web", cluster=cluster)
    assert not answer.complete
    unread = {item["kind"]: item for item in answer.document()["metadata"]["unread"]}
    assert (unread["Pod"]["state"], unread["Event"]["state"]) == ("denied", "failed")
    assert any("pods is forbidden" in text for text in answer.missing)
    denied = kres.denied(cluster)
    assert not denied.complete and any("pods is forbidden" in text for text in denied.missing)
    change = kres.simulate(cluster=cluster, scale={"deploy/web": 2})
    assert not change.complete and any("pods is forbidden" in text for text in change.missing)
    findings = kres.check(cluster=cluster)
    assert not findings.complete and any("it says 500" in text for text in findings.missing)
