import json

import pytest

from kubectl_kres.cluster.read.lists import decode
from kubectl_kres.errors import ClusterError
from kubectl_kres.model.kinds import BY_KIND, KINDS, Kind
from kubectl_kres.model.workload import Workload

POD, QUOTA, DEPLOYMENT = BY_KIND["Pod"], BY_KIND["ResourceQuota"], BY_KIND["Deployment"]


def pod(name="web", **spec):
    return {"metadata": {"name": name, "namespace": "team-a"}, "spec": spec}


@pytest.mark.parametrize(
    ("content", "names", "token"),
    [
        ({"kind": "PodList", "metadata": {"continue": "t"}, "items": [pod("a"), pod("b")]}, ["a", "b"], "t"),
        ({"kind": "PodList", "metadata": {"continue": None}, "items": None}, [], ""),
        ({"kind": "PodList", "apiVersion": "v1", "metadata": None, "items": []}, [], ""),
        ({"kind": "PodList"}, [], ""),
        ({"kind": "PodList", "items": [{}]}, [""], ""),
        ({"kind": "PodList", "items": [pod("a", nonsense={"x": [1]}, containers=None)], "more": 1}, ["a"], ""),
    ],
)
def test_lists_of_every_shape(content, names, token):
    page = decode(json.dumps(content).encode(), POD)
    assert [item.metadata.name for item in page.items] == names
    assert (page.token, page.skipped) == (token, ())


def test_quantities_keep_their_text():
    hard = '{"cpu": 0.1, "memory": 1e3, "pods": 10, "cap": "1Gi", "big": 123456789012345678901234567890}'
    item = decode(f'{{"kind": "ResourceQuotaList", "items": [{{"spec": {{"hard": {hard}}}}}]}}'.encode(), QUOTA).items[
        0
    ]
    assert item.spec.hard["cpu"] == "0.1"
    assert item.spec.hard["memory"] == "1e3"
    assert (item.spec.hard["pods"], item.spec.hard["cap"]) == (10, "1Gi")
    assert str(item.spec.hard["big"]).startswith("1234567890123456")


@pytest.mark.parametrize("struct", [Workload, None])
def test_items_get_the_kind_that_lists_leave_out(struct):
    kind = Kind("Rollout", ("rollouts", "rollout"), "argoproj.io", "v1alpha1", struct=struct)
    content = {"kind": "RolloutList", "items": [{"metadata": {"name": "a"}, "spec": {"template": {}}}]}
    item = decode(json.dumps(content).encode(), kind).items[0]
    assert (item.kind, item.api_version) == ("Rollout", "argoproj.io/v1alpha1")
    assert item.spec.template is not None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_items_of_every_kind_say_which_they_are(kind):
    content = {"kind": f"{kind.kind}List", "items": [{"metadata": {"name": "a"}}]}
    item = decode(json.dumps(content).encode(), kind).items[0]
    assert (item.kind, item.api_version) == (kind.kind, kind.api_version)


BAD = {"metadata": {"name": "bad", "namespace": "team-a"}, "spec": {"containers": 7}}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (BAD, "pods team-a/bad: Expected `array | null`, got `int` - at `$.spec.containers`"),
        ({"metadata": {"name": 5, "namespace": "n"}}, "pods n: Expected `str`, got `int` - at `$.metadata.name`"),
        ({"metadata": 3}, "pods number 2: Expected `object`, got `int` - at `$.metadata`"),
        (None, "pods number 2: Expected `object`, got `null`"),
    ],
)
def test_an_object_of_the_wrong_form_costs_only_itself(bad, reason):
    content = {"kind": "PodList", "metadata": {"continue": "t"}, "items": [pod("a"), bad, pod("b")]}
    page = decode(json.dumps(content).encode(), POD)
    assert [item.metadata.name for item in page.items] == ["a", "b"]
    assert (page.token, [each.line for each in page.skipped]) == ("t", [reason])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the list of deployments.apps could not be decoded: Input data was truncated"),
        (b'{"items": [', "the list of deployments.apps could not be decoded: Input data was truncated"),
        (b"{nope}", "the list of deployments.apps could not be decoded: JSON is malformed"),
        (b"[]", "the list of deployments.apps could not be decoded: Expected `object`, got `array`"),
        (b'{"items": 3}', "the list of deployments.apps could not be decoded: Expected `array | null`"),
        (b'{"metadata": {"continue": "\xff"}}', "the list of deployments.apps could not be decoded: "),
        (b'{"items": [{"metadata": {"name": "a\xc3"}}]}', "the list of deployments.apps could not be decoded: "),
        (b'{"items": ' + b"[" * 100_000, "the list of deployments.apps could not be decoded: "),
        (b'{"kind": "Status"}', "the server answered with a Status instead of the list of deployments.apps"),
        (b"{}", "Object 'Kind' is missing in the server's answer: it is not the list of deployments.apps"),
        (b'{"status": "ok"}', "Object 'Kind' is missing in the server's answer: "),
        (b'{"error": "upstream unavailable"}', "Object 'Kind' is missing in the server's answer: "),
        (b'{"kind": null, "items": []}', "Object 'Kind' is missing in the server's answer: "),
        (b'{"kind": "List", "items": []}', "the server answered with a List instead of the list of deployments.apps"),
        (b'{"kind": "SecretList", "items": []}', "the server answered with a SecretList instead of the list of"),
        (
            b'{"kind": "DeploymentList", "apiVersion": "v1", "items": []}',
            "the server answered with DeploymentList of v1 instead of the list of deployments.apps",
        ),
    ],
)
def test_what_is_no_list_is_one_line(content, message):
    with pytest.raises(ClusterError) as caught:
        decode(content, DEPLOYMENT)
    assert caught.value.message.startswith(message)
    assert "\n" not in caught.value.message
