"""Explain and diff against an API server: what they read, print, and end with."""

from __future__ import annotations

import json

import pytest
from cli.apiserver import LIMITS, deployment, pod
from cli.running import Kres

from kubectl_kres.cli.commands.explain import ExplainPage, ExplainTable

CORE = "/api/v1/namespaces/shop"
APPS = "/apis/apps/v1/namespaces/shop"
ADMITS = "/apis/admissionregistration.k8s.io/v1"
#: What tells what else admits, of a server before 1.36.
ELSE = [
    "/api/v1/namespaces/shop",
    f"{ADMITS}/mutatingwebhookconfigurations?limit=500",
    f"{ADMITS}/validatingadmissionpolicybindings?limit=500",
    f"{ADMITS}/validatingwebhookconfigurations?limit=500",
]
POLICIES = [f"{CORE}/limitranges?limit=500", f"{CORE}/resourcequotas?limit=500"]


def owned(one: dict[str, object], kind: str, name: str) -> dict[str, object]:
    one["metadata"]["ownerReferences"] = [{"kind": kind, "name": name, "controller": True, "apiVersion": "apps/v1"}]
    return one


def replicaset(name: str, memory: str = "") -> dict[str, object]:
    return {**deployment(name, memory), "kind": "ReplicaSet"}


@pytest.fixture
def shop(api):
    api.objects += [
        pod("big", "2Gi"),
        owned(pod("web-1", "256Mi"), "ReplicaSet", "web-x"),
        replicaset("web-x", "256Mi"),
        deployment("huge", "4Gi"),
        deployment("web", "256Mi", labels={"team": "a"}),
        pod("far", namespace="default"),
    ]
    return api


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("explain pod/web-1", [f"{CORE}/pods/web-1", *POLICIES, f"{APPS}/replicasets/web-x"]),
        ("diff pod/web-1", [f"{CORE}/pods/web-1", *POLICIES, f"{APPS}/replicasets/web-x"]),
        (
            "explain deploy/web",
            [
                f"{APPS}/deployments/web",
                *POLICIES,
                *ELSE,
                f"{APPS}/replicasets?labelSelector=app%3Dweb&limit=500",
                f"{CORE}/pods?labelSelector=app%3Dweb&limit=500",
                f"{CORE}/events?fieldSelector=type%3DWarning&limit=500",
            ],
        ),
        ("explain pods", [*POLICIES, f"{CORE}/pods?limit=500", f"{APPS}/replicasets?limit=500"]),
        (
            # Its pods are not ready: they and the events say why.
            "explain deploy",
            [
                *POLICIES,
                *ELSE,
                f"{APPS}/deployments?limit=500",
                f"{APPS}/replicasets?limit=500",
                f"{CORE}/pods?limit=500",
                f"{CORE}/events?fieldSelector=type%3DWarning&limit=500",
            ],
        ),
        (
            "explain deploy -l team=a --chunk-size=0",
            [
                *(f"{CORE}/{plural}" for plural in ("limitranges", "resourcequotas")),
                f"{APPS}/deployments?labelSelector=team%3Da",
                *(path.partition("?")[0] for path in ELSE),
                f"{APPS}/replicasets",
                f"{CORE}/pods",
                f"{CORE}/events?fieldSelector=type%3DWarning",
            ],
        ),
        (
            "diff pods -A",
            [
                "/api/v1/limitranges?limit=500",
                "/api/v1/resourcequotas?limit=500",
                "/api/v1/pods?limit=500",
                "/apis/apps/v1/replicasets?limit=500",
            ],
        ),
    ],
)
def test_what_is_read(kres: Kres, shop, text: str, asked: list[str]):
    code, _, err = kres(text)
    assert code in {0, 1} and "rror" not in err
    assert sorted(path for path in shop.asked if path != "/version") == sorted(asked)
    assert shop.asked.count("/version") == 1


WORKLOAD = [
    f"{APPS}/deployments/web",
    *POLICIES,
    f"{APPS}/replicasets?labelSelector=app%3Dweb&limit=500",
    f"{CORE}/pods?labelSelector=app%3Dweb&limit=500",
    f"{CORE}/events?fieldSelector=type%3DWarning&limit=500",
]
PODS = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]}


def bound(**reference: object) -> list[dict[str, object]]:
    """A policy with a parameter, and its binding."""
    wanted = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}} if reference else {}
    spec = {"matchConstraints": PODS, "validations": [{"expression": "true"}], **wanted}
    binding = {"policyName": "rule", "validationActions": ["Deny"], **reference}
    kind, version = "ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1"
    return [
        {"apiVersion": version, "kind": kind, "metadata": {"name": "rule"}, "spec": spec},
        {"apiVersion": version, "kind": f"{kind}Binding", "metadata": {"name": "rule-b"}, "spec": binding},
    ]


@pytest.mark.parametrize(
    ("objects", "more"),
    [
        pytest.param([], [], id="nothing is bound"),
        pytest.param(bound()[:1], [], id="a policy that nothing binds is not read"),
        pytest.param(bound(), [f"{ADMITS}/validatingadmissionpolicies?limit=500"], id="a policy is bound"),
        pytest.param(
            bound(paramRef={"name": "most", "parameterNotFoundAction": "Deny"}),
            [f"{ADMITS}/validatingadmissionpolicies?limit=500", f"{CORE}/configmaps/most"],
            id="with a parameter",
        ),
    ],
)
@pytest.mark.parametrize(
    ("version", "newest"),
    [
        ({"gitVersion": "v1.33.2"}, []),
        ({"gitVersion": "v1.36.0"}, [f"{ADMITS}/mutatingadmissionpolicybindings?limit=500"]),
        ({}, [f"{ADMITS}/mutatingadmissionpolicybindings?limit=500"]),
    ],
)
def test_what_else_admits_costs_few_gets_and_those_of_what_is_bound(
    kres: Kres, shop, version, newest: list[str], objects, more: list[str]
):
    """Each of the kinds alone can change the verdict, and a server lists one kind a request."""
    shop.objects += objects
    shop.version = version
    kres("explain deploy/web")
    assert sorted(path for path in shop.asked if path != "/version") == sorted([*WORKLOAD, *ELSE, *newest, *more])


def settled(*pods: dict[str, object], **status: int) -> list[dict[str, object]]:
    """A Deployment whose controller says that all is as wanted, with its pods."""
    web = deployment("web", "256Mi", labels={"team": "a"}, generation=3)
    web["spec"]["replicas"] = len(pods)
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), len(pods))
    return [{**web, "status": {"observedGeneration": 3, **counts, **status}}, *pods]


def made_by(replica_set: str, name: str) -> dict[str, object]:
    labels = {"app": "web", "pod-template-hash": replica_set.rpartition("-")[2]}
    return owned(pod(name, "256Mi", labels=labels), "ReplicaSet", replica_set)


@pytest.mark.parametrize(
    ("objects", "reads"),
    [
        pytest.param(settled(made_by("web-x", "a"), made_by("web-x", "b")), [], id="all as wanted"),
        pytest.param(settled(made_by("web-x", "a"), made_by("web-y", "b")), ["replicasets"], id="of two templates"),
        pytest.param(settled(made_by("web-x", "a"), made_by("odd", "b")), ["replicasets"], id="an unusual name"),
        pytest.param(
            settled(made_by("web-x", "a"), made_by("web-x", "b"), updatedReplicas=1),
            ["replicasets", "events"],
            id="an old pod",
        ),
        pytest.param(
            settled(made_by("web-x", "a"), made_by("web-x", "b"), readyReplicas=1),
            ["replicasets", "events"],
            id="unready",
        ),
        pytest.param(
            settled(made_by("web-x", "a"), observedGeneration=2),
            ["replicasets", "events"],
            id="the controller is behind",
        ),
    ],
)
def test_what_a_settled_deployment_says_itself_is_not_read(kres: Kres, api, objects, reads: list[str]):
    api.objects += objects
    assert kres("explain deploy/web").code == 0
    read = {path.partition("?")[0].rpartition("/")[2] for path in api.asked}
    assert read - {"version", "web", "shop", "limitranges", "resourcequotas", "pods"} - {
        path.partition("?")[0].rpartition("/")[2] for path in ELSE
    } == set(reads)


def test_what_was_added_to_pods_is_known_without_their_replica_set(kres: Kres, api):
    one, other = made_by("web-x", "a"), made_by("web-x", "b")
    for each in (one, other):
        each["spec"]["containers"].append({"name": "proxy", "resources": {"limits": {"memory": "64Mi"}}})
    api.objects += settled(one, other)
    assert "container proxy" in kres("explain deploy/web --all").out
    assert not any("replicasets" in path for path in api.asked)


@pytest.mark.parametrize(
    ("text", "code", "out", "err"),
    [
        ("explain pods -o name", 0, "pod/big\npod/web-1\n", ""),
        ("explain pods -o name --exit-code", 0, "pod/big\npod/web-1\n", ""),
        ("explain pod/web-1 -o name --exit-code", 0, "pod/web-1\n", ""),
        ("explain deploy -l team=a -o name", 0, "deployment.apps/web\n", ""),
        ("explain deploy,rs -o name", 0, "deployment.apps/huge\ndeployment.apps/web\nreplicaset.apps/web-x\n", ""),
        ("explain pods -n default -n shop -o name", 0, "pod/far\npod/big\npod/web-1\n", ""),
        ("explain pods -n shop -A -o name", 0, "pod/big\npod/web-1\npod/far\n", ""),
        ("explain pod far -n shop -n default -o name", 0, "pod/far\n", ""),
        ("explain pods -n empty", 3, "", 'Error from server (NotFound): namespaces "empty" not found\n'),
        ("explain pods -n shop -l a=b --exit-code", 1, "", "No resources found for -l a=b in shop namespace.\n"),
        ("explain jobs -A", 0, "", "No resources found\n"),
        ("diff jobs", 0, "", "No resources found in shop namespace.\n"),
        ("explain pod/nope", 3, "", 'Error from server (NotFound): pods "nope" not found\n'),
        ("explain deploy/nope -o json", 3, "", 'Error from server (NotFound): deployments.apps "nope" not found\n'),
        ("explain pod/nope --ignore-not-found", 0, "", ""),
        ("explain pod nope big -o name", 3, "pod/big\n", 'Error from server (NotFound): pods "nope" not found\n'),
        ("explain pod nope big -o name --ignore-not-found", 0, "pod/big\n", ""),
        ("diff pod/web-1", 0, "", ""),
        ("diff pods -o name", 1, "pod/big\n", "1 of 2 objects differ\n"),
        ("diff deploy/huge -o name", 1, "deployment.apps/huge\n", ""),
        ("explain pod/web-1 -c nope", 2, "", 'error: Pod/web-1 has no container "nope"\ncontainers: app\n'),
    ],
)
def test_answers(kres: Kres, shop, text: str, code: int, out: str, err: str):
    assert kres(text) == (code, out, err)


def test_one_object_in_full_and_several_in_a_line_each(kres: Kres, shop):
    full = kres("explain pod/big --all").out
    assert (
        full.startswith("full: shop/Pod/big: exists; a further pod like it would be refused: memory of")
        and "QoS class" in full
    )
    head, *lines = kres("explain pods").out.splitlines()
    assert head.split() == ["NAMESPACE", "NAME", "READY", "STATE", "QOS", "OUTCOME", "WHY"]
    assert [line.split()[1] for line in lines[:2]] == ["big", "web-1"]
    assert [line[head.index("OUTCOME") :].split()[0] for line in lines[:2]] == ["full", "admitted"]
    assert lines[2:] == ["2 objects: 1 admitted, 1 full"]
    steps = kres("explain pods --steps").out
    assert steps.count("QoS class") == 2 and "2 objects" not in steps


def test_one_value(kres: Kres, shop):
    out = kres("explain pod/big --for app.limits.memory").out
    assert out.startswith("app.limits.memory = 2Gi\n")
    assert "QoS" not in kres("explain pod/big -c app").out


@pytest.mark.parametrize(
    ("text", "denied", "code", "missing"),
    [
        ("explain pod/big", "limitranges", 4, "LimitRange objects of namespace shop"),
        ("explain pods -o name", "resourcequotas", 4, "ResourceQuota objects of namespace shop"),
        ("diff pods -A -o name", "limitranges", 4, "LimitRange objects"),
        ("explain deploy/web", "events", 0, ""),
        ("explain deploy/web", "pods", 4, "on the page"),
    ],
)
def test_what_may_not_be_read(kres: Kres, shop, text: str, denied: str, code: int, missing: str):
    shop.denied = {denied}
    result = kres(text)
    assert result.code == code
    if missing == "on the page":
        assert (result.err, f"{denied} is forbidden" in " ".join(result.out.split())) == ("", True)
        assert kres(f"{text} --allow-partial").code == 0
        return
    forbidden = f'Error from server (Forbidden): {denied} is forbidden: User "eve" cannot list resource "{denied}"'
    if missing:
        everywhere = "-A" in text
        assert result.err.splitlines()[-2].startswith(forbidden)
        where = "-A" if everywhere else "-n shop"
        assert result.err.splitlines()[-1] == (
            f"The answer is given without the {missing}. Check with: kubectl auth can-i list {denied} {where}"
        )
        assert kres(f"{text} --allow-partial").code in {0, 1}
        assert json.loads(kres(text.replace("-o name", "") + " -o json").out)["metadata"]["complete"] is False
    else:
        assert result.err == ""


@pytest.mark.parametrize(
    ("text", "denied", "rest"),
    [
        ("explain pod/web-1", "pods", "get pods -n shop"),
        ("explain pods -A", "pods", "list pods -A"),
        ("explain pods -A --as bob --as-group $x", "pods", "list pods -A --as bob --as-group '$x'"),
        ("-n shop diff pods --context lab", "pods", "list pods -n shop --context lab"),
        ("diff deploy", "deployments", "list deployments.apps -n shop"),
    ],
)
def test_what_is_asked_about_may_not_be_read(kres: Kres, shop, text: str, denied: str, rest: str):
    shop.denied = {denied}
    code, out, err = kres(text)
    assert (code, out) == (3, "")
    first, second = err.splitlines()
    assert first.startswith(f"Error from server (Forbidden): {denied} is forbidden: ")
    assert second == f"kres cannot answer without it. Check with: kubectl auth can-i {rest}"


def test_admitted_by_what_could_be_read_is_not_admitted(kres: Kres, shop):
    shop.denied = {"limitranges", "resourcequotas"}
    shop.objects.append({"kind": "Namespace", "metadata": {"name": "shop"}})
    *first, _, third = kres("explain pod/big").out.splitlines()[:4]
    said = "admitted as far as seen: shop/Pod/big; LimitRange and ResourceQuota could not be read"
    assert " ".join(line.strip() for line in first) == said
    assert third == "nothing to change as far as seen"
    assert all("admitted-as-far-as-seen" in line for line in kres("explain pods").out.splitlines()[1:-1])
    assert "without requests and limits is admitted as far as seen" in kres("explain ns/shop").out


def test_what_a_policy_may_set_or_limit_is_not_known_where_it_may_not_be_read(kres: Kres, shop):
    shop.denied = {"limitranges", "resourcequotas"}
    shop.objects.append(deployment("bare"))
    out = kres("explain deploy/bare --all").out
    assert "\n  what LimitRanges fill in is not known: they could not be read\n" in out
    assert "\nQoS class BestEffort as far as seen: " in out
    code, out, err = kres("explain deploy/bare --for app.limits.memory")
    assert (code, out) == (3, "")
    assert err.startswith("error: app.limits.memory is not known: limitranges is forbidden: ")
    out = kres("quota --fit deploy/bare").out
    assert " ".join(out.split()).startswith(
        "how many fit is not known, as quotas could not be read: shop/Deployment/bare"
    )
    assert "fits" not in out
    [found] = json.loads(kres("quota --fit deploy/bare -o json").out)["items"]
    assert (found["enough"], found.get("nextRollout"), found["complete"]) == (False, None, False)


def test_nearly_everything_denied_and_a_refusal(kres: Kres, shop):
    shop.denied = {"resourcequotas"}
    assert kres("explain pod/big --exit-code").code == 4
    assert kres("explain pod/big --exit-code --allow-partial").code == 0
    assert kres("diff pod/big --allow-partial").code == 1


def test_a_long_list_is_read_in_pages_and_not_kept(kres: Kres, api):
    api.objects += [pod(f"p{index:03}", "2Gi" if index == 77 else "64Mi") for index in range(100)]
    code, out, err = kres("diff pods --chunk-size=10 -o name")
    assert (code, out, err) == (1, "pod/p077\n", "1 of 100 objects differ\n")
    assert len([path for path in api.asked if "/pods?" in path]) == 10
    assert len([path for path in api.asked if "/limitranges" in path]) == 1
    assert kres("explain pods --chunk-size=7").out.endswith("100 objects: 99 admitted, 1 full\n")


def test_a_long_table_is_drawn_in_pieces(kres: Kres, api, monkeypatch):
    """The first rows do not wait for the last; the head stands once, and of longer names columns become wider."""
    api.objects += [pod("p" * (1 + index), "64Mi") for index in range(8)]
    whole = kres("explain pods -A").out.splitlines()
    asked: list[int] = []
    draw = ExplainTable.__call__

    def draw_rows(table, answers, *, more=False):
        asked.extend([len(api.asked)] * more)
        return draw(table, answers, more=more)

    monkeypatch.setattr(ExplainPage, "most_rows", 2)
    monkeypatch.setattr(ExplainTable, "__call__", draw_rows)
    pieces = kres("explain pods -A --chunk-size=1").out.splitlines()
    assert [line.split() for line in pieces] == [line.split() for line in whole]
    assert len(asked) == 3
    assert asked[0] < asked[-1]
    assert [line.index("admitted") for line in pieces[1:-1]] == [47, 47, 47, 47, 49, 49, 51, 51]


@pytest.mark.parametrize("command", ["explain pods", "explain pods -o json", "diff pods", "diff pods -o name"])
def test_pods_that_wait_for_a_node_do_not_have_all_pods_read_at_each_page(kres: Kres, api, command: str):
    unplaced = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    waiting = {"phase": "Pending", "conditions": [unplaced]}
    api.objects += [{**pod(f"p{index:03}", "64Mi"), "status": waiting} for index in range(30)]
    assert kres(f"{command} -A --chunk-size=10").code == 0
    # The list itself, and for an explanation all pods on nodes, once.
    assert len([path for path in api.asked if "/pods?" in path]) == (6 if command.startswith("explain") else 3)


def test_objects_that_cannot_be_decoded_are_left_out_and_named(kres: Kres, api):
    api.objects += [pod("good"), {**pod("bad"), "spec": {"containers": "none"}}]
    code, out, err = kres("explain pods -o name")
    assert (code, out) == (4, "pod/good\n")
    assert err.startswith("error: left out, since it cannot be decoded: pods shop/bad: ")


def test_warnings_of_the_server(kres: Kres, api):
    api.objects.append(pod("web"))
    api.warning = 'v1 Pod is \\"old\\"'
    code, out, err = kres("explain pod/web -o name")
    assert (code, out, err) == (0, "pod/web\n", 'Warning: v1 Pod is "old"\n')


@pytest.mark.parametrize(("level", "lines"), [("", 0), ("-v", 3), ("-v=6", 11), ("-v=8", 62)])
def test_verbosity(kres: Kres, api, level: str, lines: int):
    api.objects.append(pod("web"))
    code, _, err = kres(f"explain pod/web {level}")
    assert (code, len(err.splitlines())) == (0, lines)
    assert err.count("reading limitranges in shop\n") == (1 if level else 0)
    assert err.count(" 200 OK in ") == (4 if level > "-v=" else 0)
    assert ("Server: " in err) == ("User: none in the kubeconfig" in err) == (level > "-v=")


def test_files_over_the_cluster(kres: Kres, shop, file):
    looser = {**LIMITS, "spec": {"limits": [{"type": "Container", "max": {"memory": "8Gi"}}]}}
    stricter = json.loads(
        json.dumps(looser).replace("8Gi", "1Mi").replace('"limits", "namespace"', '"mine", "namespace"')
    )
    huge = deployment("huge", "4Gi")
    # A LimitRange of the files is no sign of the namespace, so it is read.
    shop.objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    assert kres(f"explain --exit-code -f {file(huge)}").code == 1
    assert kres(f"explain --exit-code -f {file(huge, looser)}").code == 0
    assert kres(f"explain --exit-code -f {file(huge, looser, stricter)}").code == 1
    # What the file would change is read by its name, and nothing else of its kind.
    assert {path for path in shop.asked if "deployments" in path} == {"/apis/apps/v1/namespaces/shop/deployments/huge"}


def test_a_namespace_that_does_not_match(kres: Kres, shop, file):
    code, _, err = kres(f"diff -n other -f {file(pod('web'))}")
    assert code == 2
    assert 'the namespace from the provided object "shop" does not match the namespace "other".' in err


@pytest.mark.parametrize("text", ["explain secrets", "diff secret/s", "qos pods,secrets", "quota --fit secret/s"])
def test_secrets_are_never_asked_for(kres: Kres, api, text: str):
    secrets = {"resource": "secrets", "singularResource": "secret", "responseKind": {"kind": "Secret"}}
    secrets["scope"] = "Namespaced"
    api.groups = [{"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": [secrets]}]}]
    code, out, err = kres(text)
    assert (code, out) == (2, "")
    assert err.startswith("error: secrets hold no pod template (spec.template.spec.containers)\n")
    assert not [path for path in api.asked if "/secrets" in path]


def test_a_kind_that_only_the_server_knows(kres: Kres, api):
    resource = {
        "resource": "rollouts",
        "responseKind": {"kind": "Rollout"},
        "scope": "Namespaced",
        "shortNames": ["ro"],
    }
    groups = {"resource": "jobs", "responseKind": {"kind": "Job"}, "scope": "Namespaced"}
    api.groups = [
        {"metadata": {"name": "argoproj.io"}, "versions": [{"version": "v1alpha1", "resources": [resource]}]},
        {"metadata": {"name": "batch.volcano.sh"}, "versions": [{"version": "v1", "resources": [groups]}]},
    ]
    rollout = {**deployment("web", "2Gi"), "kind": "Rollout", "apiVersion": "argoproj.io/v1alpha1"}
    answer = api.answer
    api.answer = lambda path, query: (
        (200, rollout)
        if path.startswith("/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/")
        else (200, {**rollout, "kind": "Job", "apiVersion": "batch.volcano.sh/v1"})
        if path.startswith("/apis/batch.volcano.sh/v1/namespaces/shop/jobs/")
        else answer(path, query)
    )
    assert kres("explain ro/web -o name --exit-code") == (1, "rollout.argoproj.io/web\n", "")
    assert kres("explain jobs.batch.volcano.sh/web -o name --exit-code") == (1, "job.batch.volcano.sh/web\n", "")
