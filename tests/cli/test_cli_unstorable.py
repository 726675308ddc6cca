"""Objects in files that no server would store: said in its words, and left out of what is explained beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cli.running import Kres

Raw = dict[str, Any]
MANY = {"quota": 10_000, "limits": 2_000, "pod": 2_000}


def made(kind: str, spec: Raw) -> Raw:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": kind.lower()}, "spec": spec}


def quota(hard: Raw, **spec: Any) -> Raw:
    return made("ResourceQuota", {"hard": hard, **spec})


def limits(*items: Raw) -> Raw:
    return made("LimitRange", {"limits": [{"type": "Container", **item} for item in items]})


def pod(**resources: Raw) -> Raw:
    return made("Pod", {"containers": [{"name": "app", "image": "app", "resources": resources}]})


def selector(scope: str, operator: str) -> Raw:
    return {"scopeSelector": {"matchExpressions": [{"scopeName": scope, "operator": operator}]}}


POD = pod(requests={"cpu": "1"})
UNSTORABLE = [
    (quota({"pods": "1"}, scopes=["Never"]), 'spec.scopes: Invalid value: ["Never"]: unsupported scope'),
    (quota({"pods": "1"}, **selector("Never", "Gt")), 'Invalid value: "Gt": not a valid selector operator'),
    (quota({"pods": "1"}, **selector("BestEffort", "In")), "must be 'Exists' when scope is any of"),
    (quota({"pods": "-1"}), 'spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0'),
    (quota({"services": 1.5}), 'spec.hard[services]: Invalid value: "1500m": must be an integer'),
    (quota({"pods": "1.5.2"}), ": spec.hard[pods]: quantities must match"),
    (quota({"cpu": "1e9999999999"}), 'exponent of "1e9999999999" is beyond reason'),
    (quota({"cpu": "1e-9999999999"}), 'exponent of "1e-9999999999" is beyond reason'),
    (quota({"cpu": "9" * 2000}), "a number of more than 1000 digits is beyond reason"),
    (quota({"cpu": True}), "quantities must match the regular expression"),
    (limits({"min": {"cpu": "2"}, "max": {"cpu": "1"}}), "min value 2 is greater than max value 1"),
    (limits({"default": {"cpu": "1e9999999999"}}), 'exponent of "1e9999999999" is beyond reason'),
    (limits({}, {}), 'spec.limits[1].type: Duplicate value: "Container"'),
    (limits({"maxLimitRequestRatio": {"cpu": "0"}}), "ratio 0 is less than 1"),
]


@pytest.mark.parametrize(("policy", "said"), UNSTORABLE, ids=[said[:40] for _, said in UNSTORABLE])
def test_a_policy_is_refused_and_left_out(kres: Kres, file, policy: Raw, said: str):
    alone = kres("explain --offline -f", file(policy))
    assert alone.code in {0, 2} and said in " ".join((alone.out + alone.err).split())
    beside = kres("explain --offline --exit-code -o json -f", file(policy, POD))
    # The file as a whole is not stored, whatever becomes of the pod.
    assert beside.code == 1, beside
    found, together = json.loads(beside.out)["items"]
    (refused,) = together["refused"]
    assert refused["subject"]["kind"] == policy["kind"]
    assert found["verdict"]["allowed"] is True
    checked = kres("check --offline --select KRES116 -f", file(policy))
    assert checked.code == 1 and f"error KRES116 default/{policy['kind']}/" in checked.out
    (left_out,) = [one["text"] for one in found["assumptions"] if one["code"].startswith("policy/")]
    assert f"{policy['kind']}/{policy['kind'].lower()} is left out: " in left_out and said in left_out


@pytest.mark.parametrize("beside", [(), (POD,)], ids=["alone", "beside a pod"])
def test_an_autoscaler_that_no_server_stores(kres: Kres, file, beside: tuple[Raw, ...]):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 5, "maxReplicas": 2}
    sent = file({**made("HorizontalPodAutoscaler", spec), "apiVersion": "autoscaling/v2"}, *beside)
    said = "spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`"
    checked = kres("check --offline -f", sent)
    assert checked.code == 1 and said in " ".join(checked.out.split())
    assert kres("simulate --offline -f", sent).code == 1
    explained = kres("explain --offline --exit-code -f", sent)
    assert explained.code == (1 if beside else 2)
    assert not beside or said in " ".join(explained.out.split())


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (pod(limits={"cpu": "-1"}), "must be greater than or equal to 0"),
        (pod(limits={"cpu": "1e9999999999"}), "is beyond reason"),
        (made("PersistentVolumeClaim", {"resources": {"requests": {"storage": "-1Gi"}}}), "must be greater than zero"),
        (made("PersistentVolumeClaim", {"resources": {}}), "spec.resources[storage]: Required value"),
    ],
)
def test_an_object_is_refused(kres: Kres, file, sent: Raw, said: str):
    found = kres("explain --offline --exit-code -f", file(sent))
    assert (found.code, found.err) == (1, "") and said in found.out
    assert "fix " in found.out


def test_a_fault_is_said_once(kres: Kres, file):
    found = kres("quota --offline -f", file(quota({"foo": "1", "bar": "1"}, scopes=["Never"])))
    assert (found.code, found.out.count("unsupported scope")) == (0, 1), found


def test_numbers_of_a_file_can_be_resized(kres: Kres, file):
    patch = json.dumps({"spec": {"containers": [{"name": "app", "resources": {"limits": {"cpu": 1.75}}}]}})
    sent = file(pod(requests={"cpu": 0.5}, limits={"cpu": 1.5}))
    found = kres("explain --offline -o json --resize", patch, "-f", sent)
    assert found.code == 0, found
    (item,) = json.loads(found.out)["items"]
    assert [(one["before"], one["after"]) for one in item["changes"]] == [("1500m", "1750m")]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("what", ["quota", "limits", "pod"])
@pytest.mark.parametrize("output", ["text", "json"])
def test_thousands_of_resources(kres: Kres, file, what: str, output: str):
    """The answer is as long as the question: what is said of each resource does not repeat what is said of all."""
    names = [f"example.com/x{number}" for number in range(MANY[what])]
    ones, twos = dict.fromkeys(names, "1"), dict.fromkeys(names, "2")
    hard = quota({f"requests.{name}": "1" for name in names})
    given = {
        "quota": [hard],
        "limits": [limits({"default": ones, "max": twos}), POD],
        "pod": [hard, pod(requests=twos, limits=twos)],
    }[what]
    found = kres(f"explain --offline --exit-code --all -o {output} -f", file(*given))
    assert (found.code, found.err) == (int(what == "pod"), "")
    assert all(name in found.out for name in names[::100])
    assert len(found.out) < 5000 * MANY[what]


def rollout(group: str) -> dict[str, object]:
    spec = {"template": {"spec": {"containers": [{"name": "a", "image": "i"}]}}}
    return {
        "apiVersion": f"{group}/v1",
        "kind": "Rollout",
        "metadata": {"name": "a", "namespace": "shop"},
        "spec": spec,
    }


def definition(group: str) -> dict[str, object]:
    spec = {"group": group, "names": {"kind": "Rollout", "plural": "rollouts"}}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**head, "metadata": {"name": f"rollouts.{group}"}, "spec": spec}


def test_kinds_that_the_server_has_and_those_that_files_bring(kres: Kres, api, file):
    served = {"resource": "rollouts", "responseKind": {"kind": "Rollout"}, "scope": "Namespaced"}
    api.groups = [{"metadata": {"name": "here.io"}, "versions": [{"version": "v1", "resources": [served]}]}]
    given = file(rollout("here.io"), rollout("gone.io"), rollout("brought.io"), definition("brought.io"))
    said = json.loads(kres("explain -o json -f", given).out)["items"]
    assert [one["verdict"]["allowed"] for one in said] == [True, False, True]
    assert said[1]["verdict"]["message"] == 'no matches for kind "Rollout" in version "gone.io/v1"'
