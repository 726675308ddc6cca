"""The roles of ``version --rbac`` on a real server: enough for every answer, and none of their rules too many."""

from __future__ import annotations

import copy
import json
import re
import time
from typing import Any

import pytest
import yaml
from e2e import audit
from e2e.plugin import environment, plugin

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.reports.common.rbac import NAME

pytestmark = pytest.mark.e2e

#: Commands on the demo that read all there is to read.
COMMANDS = (
    "explain deploy,sts,ds,rs,jobs,cronjobs,rc,podtemplates,pods -A",
    "explain deploy/checkout -n checkout",
    "explain ns/checkout",
    "explain quota -A",
    "explain limits -A",
    "quota -A --recount --by workload",
    "quota -A --denied",
    "check -A",
    "overview -A",
    "claims -A",
    "pools",
    "qos -A",
    "diff pods -A",
    "explain taskruns,tasks -A",
    "explain pipelineruns -A",
    "qos pods -A --cgroup v2",
)


def test_enough(demo: Any, kubectl: Any, tmp_path: Any):
    run = plugin(kubectl, environment(demo.kubeconfig, kubectl, tmp_path), tmp_path)
    bound(demo, run, "reader", [])
    for words in COMMANDS:
        mine, theirs = (run(*words.split(), "-o", "json", *extra) for extra in ((), ("--as", "reader")))
        assert (theirs.returncode, theirs.stderr) == (mine.returncode, mine.stderr), words
        assert items(theirs) == items(mine), words
    asked = used(audit.folder_of(demo), "reader")
    granted = {(rule["resources"][0], verb) for rule in rules(run) for verb in rule["verbs"]}
    assert asked - granted == set()
    assert {resource for resource, _ in granted - asked} - {resource for resource, _ in asked} <= UNUSED


#: What is read only for objects that the demo does not have, or by flags that are not tried here.
UNUSED = {
    "runtimeclasses",
    "storageclasses",
    "stepactions",
    "nodes",
    # Read only where all pods of a workload are ready.
    "horizontalpodautoscalers",
    "services",
    "customresourcedefinitions",
    # Read only where a binding names a policy, and where a pod names an account.
    *("mutatingadmissionpolicies", "validatingadmissionpolicies", "serviceaccounts"),
    "pipelines",
}


def rules(run: Any) -> list[Any]:
    return [rule for role in yaml.safe_load_all(run("version", "--rbac").stdout) for rule in role["rules"]]


def used(folder: Any, user: str) -> set[tuple[str, str]]:
    """Resource and verb of what was asked in the name of a user."""
    with (folder / "audit.log").open() as log:
        events = [json.loads(line) for line in log if f'"{user}"' in line]
    refs = [
        (event["objectRef"]["resource"], event["verb"])
        for event in events
        if event.get("impersonatedUser", {}).get("username") == user and "objectRef" in event
    ]
    return set(refs)


def items(done: Any) -> Any:
    """The answers, without whom the proposed commands are to run as, how many seconds something waits, and when Tekton
    tries again, which is another minute where one begins between two answers.
    """
    text = re.sub(r"(?<=: )\d{4,}(?=,?$)", "0", re.sub(r" --as [a-z-]+", "", done.stdout), flags=re.MULTILINE)
    text = re.sub(r'(?<="nextTry": )"[^"]*"', '""', text)
    return json.loads(text)["items"] if text else None


def bound(plane: Any, run: Any, user: str, without: list[str]) -> None:
    """Gives a user the roles, but for the rules of some resources, and waits until they count."""
    roles = list(yaml.safe_load_all(run("version", "--rbac").stdout))
    for role in copy.deepcopy(roles):
        kind, meta = role["kind"], role["metadata"]
        role["rules"] = [rule for rule in role["rules"] if rule["resources"][0] not in without]
        meta["name"] = f"{NAME}-{user}"
        root = "/apis/rbac.authorization.k8s.io/v1"
        place = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
        if place:
            plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": meta["namespace"]}})
        status, answer = plane.request("POST", f"{root}{place}/{kind.lower()}s", role)
        assert status == 201, answer
        binding = {
            "metadata": {"name": meta["name"]},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": meta["name"]},
            "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
        }
        status, answer = plane.request("POST", f"{root}{place}/{kind.lower()}bindings", binding)
        assert status == 201, answer
    review = {
        "spec": {"user": user, "resourceAttributes": {"verb": "list", "resource": "limitranges"}},
    }
    if "limitranges" in without:
        review["spec"]["resourceAttributes"]["resource"] = "pods"
    for _ in range(100):
        _, answer = plane.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        if answer["status"]["allowed"]:
            return
        time.sleep(0.1)
    raise AssertionError(answer)


#: Resource to the command whose answer tells that it may not be read.
TELLING = {
    "pods": "explain pods -n shop",
    "limitranges": "explain deploy/cart -n shop",
    "resourcequotas": "explain deploy/cart -n shop",
    "deployments": "explain deploy/cart -n shop",
    "events": "explain deploy/checkout -n checkout",
    "replicasets": "explain deploy/checkout -n checkout",
    "resourcepools": "pools",
    "resourcepoolclaims": "claims -A",
    "taskruns": "explain taskruns -A",
    "namespaces": "pools",
}


@pytest.mark.parametrize("resource", TELLING)
def test_without_a_rule_an_answer_says_so(demo: Any, kubectl: Any, tmp_path: Any, resource: str):
    run = plugin(kubectl, environment(demo.kubeconfig, kubectl, tmp_path), tmp_path)
    bound(demo, run, f"no-{resource}", [resource])
    done = run(*TELLING[resource].split(), "-o", "json", "--as", f"no-{resource}")
    text = done.stderr + json.dumps([one.get("unseen") for one in items(done) or ()])
    kind = next(kind for kind in BY_KIND.values() if kind.plural == resource)
    assert f'User \\"no-{resource}\\" cannot' in text or f'User "no-{resource}" cannot' in text, done
    assert f'resource "{resource}"' in text.replace("\\", "") and kind.qualified, done
