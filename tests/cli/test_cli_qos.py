"""``qos`` and ``explain --resize`` on the command line: arguments, formats, exit codes, what is read."""

from __future__ import annotations

import json

import pytest
from cli.apiserver import Api, deployment, pod
from cli.running import Kres
from cli.test_cli_schema import misfits

from kubectl_kres.render.text.line import cells

PATCH = '{"spec":{"containers":[{"name":"app","resources":{"limits":{"memory":"600Mi"}}}]}}'
NODE = {
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"capacity": {"memory": "8Gi"}, "allocatable": {"cpu": "4", "memory": "7Gi"}},
}


def bound(name: str, memory: str = "256Mi", qos: str = "Burstable") -> dict:
    found = pod(name, memory)
    found["spec"]["nodeName"] = "n1"
    found["status"]["qosClass"] = qos
    return found


@pytest.fixture
def shop(api: Api) -> Api:
    api.objects += [bound("web"), bound("old", qos="Guaranteed"), deployment("huge", "4Gi"), NODE]
    return api


def test_one_pod(kres: Kres, shop: Api):
    code, out, err = kres("qos pod/web --cgroup v2 --all")
    assert (code, err) == (0, "")
    assert out.startswith("Burstable: shop/Pod/web, container app has no cpu limit\n")
    assert "  container app  969      memory request 256Mi\n" in out
    assert "memory.max     268435456   256Mi, its limits[memory]" in out
    assert [line for line in out.splitlines() if cells(line) > 80] == []
    assert [path for path in shop.asked if "/nodes/n1" in path] != []
    assert len(shop.asked) <= 7


def test_without_words_it_is_the_pods_and_no_node_is_read(kres: Kres, shop: Api):
    code, out, _ = kres("qos")
    assert code == 0
    first, second, last = out.splitlines()
    assert first.split() == ["Burstable", "shop/Pod/web", "app:", "no", "cpu", "limit"]
    assert second.split() == ["Burstable", "shop/Pod/old", "live:", "Guaranteed"]
    assert last == "2 objects: 2 Burstable; 1 live with another class"
    assert [path for path in shop.asked if "/nodes" in path] == []


@pytest.mark.parametrize(
    ("words", "code"),
    [("pod/web", 0), ("pod/old", 1), ("pods", 1), ("deploy/huge", 1), ("deploy/huge --output=json", 1)],
)
def test_exit_code(kres: Kres, shop: Api, words: str, code: int):
    assert kres(f"qos {words} --exit-code").code == code
    assert kres(f"qos {words}").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("qos --driver cgroupfs", "--driver goes with --cgroup"),
        ("qos --cgroup v3 pod/web", 'invalid argument "v3" for "--cgroup" flag: one of v1, v2 is expected'),
        ("qos --cgroup v1 --driver x",
         'invalid argument "x" for "--driver" flag: one of systemd, cgroupfs is expected'),
        ("qos --summary deployments", "--summary counts pods, not deployments.apps"),
        ("qos --summary pod/web", "--summary counts all pods that -n, -A and -l choose; names do not go with it"),
        ("qos --summary --cgroup v2", "--summary and --cgroup exclude each other"),
        ("qos --summary -o name", "--summary has no names: -o name does not go with it"),
        ("qos --summary -f x.yaml", "--summary counts the pods of a cluster or a snapshot, not of files"),
        ('explain deploy/huge --resize {"spec":{}}', "--resize takes pods, not deployments.apps"),
        ("explain pod/web --resize {} --steps", "--steps does not go with --resize"),
        ("explain pod/web --resize {}", "--resize: no spec"),
        ("explain pod/web --resize {", "--resize:2:1: did not find expected node content"),
        ("explain pod/web --resize @nowhere.yaml", "nowhere.yaml: cannot be read: No such file or directory"),
        ("explain pod/web --resize @-", "--resize: one patch is expected, not 0 documents"),
    ],
)  # fmt: skip
def test_bad_words(kres: Kres, shop: Api, words: str, message: str):
    code, out, err = kres(words)
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == f"error: {message}"


def test_summary(kres: Kres, shop: Api):
    shop.objects += [pod("done", namespace="other") | {"status": {"phase": "Succeeded"}}]
    code, out, err = kres("qos --summary -A")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "NAMESPACE  PODS  GUAR  BURST  BEST  CPU REQ  CPU LIM  MEM REQ  MEM LIM",
        "other         0     0      0     0        0        0        0        0",
        "shop          2     1      1     0        0        0    512Mi    512Mi",
        "all 2         2     1      1     0        0        0    512Mi    512Mi",
        "1 finished pod counts in nothing here",
    ]
    assert {path.partition("?")[0] for path in shop.asked} == {"/version", "/api/v1/pods"}


def test_summary_page_by_page_keeps_no_pod(kres: Kres, shop: Api):
    shop.objects += [bound(f"p{index}") for index in range(40)]
    whole = kres("qos --summary -o json").out
    paged = kres("qos --summary -o json --chunk-size 7").out
    assert [json.loads(text)["items"] for text in (whole, paged)] == [json.loads(whole)["items"]] * 2
    assert json.loads(whole)["items"][-1]["pods"] == 42


def test_a_denied_list_ends_with_3(kres: Kres, shop: Api):
    shop.denied = {"pods"}
    for words in ("qos", "qos --summary"):
        assert kres(words).code == 3


def test_a_denied_node_leaves_the_score_open(kres: Kres, shop: Api):
    shop.denied = {"nodes"}
    code, out, err = kres("qos pod/web")
    assert (code, err) == (0, "")
    assert "container app  depends" in out
    assert "unread  Node n1: nodes is forbidden" in out
    code, out, _ = kres("explain pod/web --resize", PATCH)
    assert code == 0
    assert "assumed node n1 is not known" in out


def test_resize(kres: Kres, shop: Api):
    code, out, err = kres("explain pod/web --resize", PATCH)
    assert (code, err) == (0, "")
    assert out.startswith("allowed: shop/Pod/web; nothing restarts\nnothing to change\n")
    assert "app        memory limit  256Mi   600Mi  while it runs\n" in out
    assert [line for line in out.splitlines() if cells(line) > 80] == []


def test_resize_from_standard_input_is_refused(kres: Kres, shop: Api):
    code, out, _ = kres("explain pod/web --exit-code --resize -", stdin=PATCH.replace("600Mi", "2Gi"))
    assert code == 1
    assert out.startswith("refused: shop/Pod/web: memory 2Gi is above the max 1Gi of LimitRange limits\nfix     ")
    server = "maximum memory usage per Container is 1Gi, but limit is 2Gi"
    assert " ".join(out.split()).count(server) == 1
    assert kres("explain pod/none --resize", PATCH).code == 3


@pytest.mark.parametrize(
    ("words", "schema"),
    [
        ("qos pod/web pod/old --cgroup v1 -o json", "qos"),
        ("qos deployments -o json", "qos"),
        ("qos -A --summary -o json", "summary"),
        (f"explain pod/web -o json --resize {PATCH}", "resize"),
    ],
)
def test_documents_fit_their_schemas(kres: Kres, shop: Api, words: str, schema: str):
    found = json.loads(kres(words).out)
    known = json.loads(kres(f"schema {schema}").out)
    assert found["items"] != []
    assert misfits(found, known, known["$defs"]) == []


def test_formats(kres: Kres, shop: Api):
    assert kres("qos -o name").out == "pod/web\npod/old\n"
    assert kres("qos pod/web -o yaml").out.startswith("apiVersion: kres/v1alpha1\nkind: Qos\n")
    assert kres("explain pod/web -o name --resize", PATCH).out == "pod/web\n"
    assert "kind: QosSummary" in kres("qos --summary -o yaml").out


def test_several_workloads_of_a_file(kres: Kres, file):
    """Each by its template, with the class that it has when it is asked about alone."""
    code, out, _ = kres(f"qos --offline -f {file(deployment('one', '1Gi'), deployment('two', '2Gi'))}")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["Burstable", "shop/Deployment/one"],
        ["Burstable", "shop/Deployment/two"],
        ["2", "objects:"],
    ]


def test_a_quantity_that_does_not_parse(kres: Kres, file):
    code, out, err = kres(f"qos --offline -f {file(deployment('bad', 'x'))}")
    assert (code, out) == (2, "")
    assert err.splitlines()[1] == f"kubectl kres explain -f {file(deployment('bad', 'x'))} --offline"
    text = "1:1: Deployment/bad: no class, since a quantity cannot be parsed"
    assert err.splitlines()[0] == f"error: {file(deployment('bad', 'x'))}:{text}"
