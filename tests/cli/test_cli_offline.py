"""Snapshots, made and read, and files alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from cli.apiserver import LIMITS, deployment, pod
from cli.running import Kres

from kubectl_kres.cli.commands.snapshot import KINDS
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.snapshot import read as snapshots


@pytest.fixture
def shop(api):
    api.objects += [
        {"kind": "Namespace", "metadata": {"name": "shop"}},
        pod("big", "2Gi", labels={"app": "big"}),
        pod("web", "256Mi", labels={"app": "web"}),
        deployment("huge", "4Gi"),
        deployment("web", "256Mi"),
        pod("far", namespace="default"),
        {**LIMITS, "metadata": {"name": "far", "namespace": "default"}},
    ]
    return api


QUESTIONS = [
    "explain pod/big",
    "explain pods",
    "explain pods -l app=web",
    "explain pods -l app=big -o json",
    "explain deploy/huge",
    "explain deploy/huge --steps --exit-code",
    "explain deploy,pods -o name",
    "explain pod nope",
    "diff pods -o name",
    "diff pod/big",
    "diff deploy",
    "explain jobs",
]


@pytest.mark.parametrize("name", ["shop.kres", "shop.kres.gz"])
def test_a_snapshot_answers_as_the_cluster_does(kres: Kres, shop, name: str, tmp_path: Path):
    code, out, err = kres(f"snapshot --out {name}")
    assert (code, out, err) == (0, "", f"{name}: 6 objects\n")
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    live = {text: kres(text) for text in QUESTIONS}
    shop.asked.clear()
    shop.denied = set(KINDS)
    for text in QUESTIONS:
        held = kres(f"{text} --snapshot {name}")
        assert (held.code, _sorted(held.out), held.err) == (
            live[text].code,
            _sorted(live[text].out),
            live[text].err,
        ), text
    assert shop.asked == []


def _sorted(out: str) -> object:
    """Without the origin, and without the order of a list, which is the server's."""
    if out.startswith("{"):
        return sorted(map(json.dumps, json.loads(out)["items"]))
    return sorted(out.splitlines())


@pytest.mark.parametrize(
    ("text", "lists"), [("-A", ["/api/v1/pods?limit=500"]), ("-n a -n shop", ["a", "shop"]), ("", ["shop"])]
)
def test_what_a_snapshot_reads(kres: Kres, shop, text: str, lists: list[str]):
    assert kres(f"snapshot --out x {text}").code == 0
    paths = [path for path in shop.asked if "/pods?" in path]
    assert paths == [one if "/" in one else f"/api/v1/namespaces/{one}/pods?limit=500" for one in lists]
    plurals = {path.partition("?")[0].rpartition("/")[2] for path in shop.asked}
    assert plurals >= {BY_KIND[kind].plural for kind in KINDS if kind != "Namespace"}
    assert [path for path in shop.asked if "/events" in path and "fieldSelector=type%3DWarning" not in path] == []
    help_text = kres("help snapshot").out
    assert [kind for kind in KINDS if BY_KIND[kind].plural not in " ".join(help_text.split())] == []


def test_a_snapshot_on_stdout_is_nothing_but_the_snapshot(kres: Kres, shop, tmp_path: Path):
    code, out, err = kres("snapshot --out -")
    assert (code, err) == (0, "-: 6 objects\n")
    (tmp_path / "piped").write_text(out)
    assert snapshots.read("piped").get("Pod", "big", "shop") is not None


@pytest.mark.parametrize(
    ("denied", "code", "told"),
    [
        ("limitranges", 4, "limitranges in namespace shop could not be read: limitranges is forbidden: "),
        ("pods", 4, "pods in namespace shop could not be read: pods is forbidden: "),
        ("deployments", 4, "deployments.apps in namespace shop could not be read: deployments is forbidden: "),
        ("events", 0, "events in namespace shop could not be read: events is forbidden: "),
        ("priorityclasses", 0, "priorityclasses.scheduling.k8s.io could not be read: priorityclasses is forbidden: "),
    ],
)
def test_a_snapshot_says_what_it_lacks(kres: Kres, shop, denied: str, code: int, told: str):
    shop.denied = {denied}
    result = kres("snapshot --out x.kres")
    lines = result.err.splitlines()
    assert (result.code, result.out, len(lines)) == (code, "", 3)
    assert lines[0].startswith(told)
    assert lines[1].startswith("Check with: kubectl auth can-i list ")
    assert kres("snapshot --out x.kres --allow-partial").code == 0
    if denied == "limitranges":
        held = kres("explain pod/big --snapshot x.kres -o name")
        assert (held.code, held.out) == (4, "pod/big\n")
        assert held.err == kres("explain pod/big -o name").err
    if denied == "pods":
        assert kres("explain pods --snapshot x.kres") == kres("explain pods")


def test_a_snapshot_of_nothing_leaves_the_old_one_alone(kres: Kres, shop, tmp_path: Path):
    (tmp_path / "x.kres").write_text("old")
    shop.denied = {kind.plural for kind in BY_KIND.values()}
    code, out, err = kres("snapshot --out x.kres -A")
    assert (code, out, len(err.splitlines())) == (3, "", 2)
    assert err.startswith("error: nothing could be read, and nothing is written: namespaces is forbidden: ")
    assert (tmp_path / "x.kres").read_text() == "old"


def test_a_failed_snapshot_leaves_the_old_one_alone(kres: Kres, shop, tmp_path: Path):
    (tmp_path / "x.kres").write_text("old")
    answer = shop.answer
    shop.answer = lambda path, query: (
        (401, {"kind": "Status", "message": "who?"}) if "/pods" in path else answer(path, query)
    )
    code, out, err = kres("snapshot --out x.kres")
    assert (code, out, err) == (3, "", "error: You must be logged in to the server (who?)\n")
    assert [path.name for path in tmp_path.iterdir() if path.name != "kubeconfig"] == ["x.kres"]
    assert (tmp_path / "x.kres").read_text() == "old"


@pytest.mark.parametrize("where", ["nowhere/x.kres", "."])
def test_a_place_that_cannot_be_written(kres: Kres, shop, where: str):
    code, out, err = kres(f"snapshot --out {where}")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {where}: the snapshot cannot be written: ")


def test_a_snapshot_of_another_namespace(kres: Kres, shop):
    kres("snapshot --out x.kres")
    lacks = "x.kres does not hold the Pod objects of namespace other, only of namespace shop"
    assert kres("explain pods -n other --snapshot x.kres").err.splitlines()[0] == f"error: {lacks}"
    assert kres("explain pod/big -n other --snapshot x.kres") == (3, "", f"error: {lacks}\n")
    everywhere = kres("explain pods -A --snapshot x.kres")
    assert (everywhere.code, everywhere.out) == (3, "")
    assert everywhere.err.splitlines()[0].endswith("the Pod objects of all namespaces, only of namespace shop")


def test_without_a_namespace_all_that_a_snapshot_holds_is_meant(kres: Kres, shop):
    shop.objects.append(pod("web", namespace="default"))
    kres("snapshot -A --out all.kres")
    kres("snapshot -n shop --out shop.kres")
    text = "explain -o name --snapshot"
    assert kres(f"{text} all.kres pods").out.split() == ["pod/big", "pod/web", "pod/far", "pod/web"]
    assert kres(f"{text} all.kres pods -A").out == kres(f"{text} all.kres pods").out
    assert kres(f"{text} all.kres pods -n default").out.split() == ["pod/far", "pod/web"]
    assert kres(f"{text} all.kres pods -n shop -n default").out.count("pod/") == 4
    assert kres(f"{text} all.kres pod/web").out.split() == ["pod/web", "pod/web"]
    assert kres(f"{text} all.kres pod/far deploy/huge").out.split() == ["pod/far", "deployment.apps/huge"]
    assert kres(f"{text} all.kres pod/far -n shop").code == 3
    assert kres(f"{text} shop.kres pods").out.split() == ["pod/big", "pod/web"]
    assert kres(f"{text} shop.kres pod/far") == (3, "", 'Error from server (NotFound): pods "far" not found\n')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"kind: Pod\n", "this is no kres snapshot"),
        (gzip.compress(b"x", mtime=0), "no kres snapshot"),
    ],
)
def test_files_that_are_no_snapshot(kres: Kres, tmp_path: Path, content: bytes, message: str):
    (tmp_path / "x.kres").write_bytes(content)
    code, out, err = kres("explain pods --snapshot x.kres")
    assert (code, out) == (2, "") and err.startswith("error: x.kres: ") and message in err


def test_a_kind_that_no_snapshot_holds(kres: Kres, shop):
    kres("snapshot --out x.kres")
    code, _, err = kres("explain zz/a --snapshot x.kres")
    assert (code, err.splitlines()[0]) == (3, 'error: the server doesn\'t have a resource type "zz"')
    assert " holds the kinds " in err and {"Pod", "Deployment"} <= {*err.replace(",", "").split()}


def test_files_over_a_snapshot(kres: Kres, shop, file):
    kres("snapshot --out x.kres")
    huge = deployment("new", "4Gi")
    del huge["metadata"]["namespace"]
    text = f"explain --snapshot x.kres --exit-code -o name -f {file(huge)}"
    assert kres(text) == (1, "deployment.apps/new\n", "")
    looser = {**LIMITS, "spec": {"limits": []}}
    assert kres(f"{text} -f {file(looser, name='looser.json')}").code == 0


def test_files_alone(kres: Kres, file):
    given = file(LIMITS, pod("web"), deployment("huge", "4Gi", labels={"team": "a"}))
    text = f"explain --offline -f {given}"
    assert kres(f"{text} -o name --exit-code") == (1, "pod/web\ndeployment.apps/huge\n", "")
    assert kres(f"{text} -o name -l team=a").out == "deployment.apps/huge\n"
    assert kres(f"{text} -l team=b") == (0, "", "No resources found\n")
    found = json.loads(kres(f"{text} -o json").out)
    assert found["metadata"]["complete"] is True
    assert "--offline" in found["items"][0]["assumptions"][0]["text"]


def test_standard_input(kres: Kres):
    assert kres("explain --offline -f - -o name", stdin=json.dumps(pod("web"))).out == "pod/web\n"
    code, out, err = kres("explain --offline -f -", stdin="")
    assert (code, out, err) == (2, "", "error: STDIN: holds no objects\n")


def test_files_without_workloads(kres: Kres, file):
    path = file({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}})
    message = f"error: {path}: there is no pod and nothing that makes pods\n"
    assert kres(f"explain --offline -f {path}") == (2, "", message)
    code, out, err = kres(f"explain --offline -f {file(LIMITS)}")
    assert (code, out.splitlines()[0], err) == (0, "admitted: shop/LimitRange/limits", "")


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"containers": "none"}, 2, "spec.containers"),
        ({"containers": [{"name": "app", "resources": {"limits": {"memory": 1.5}}}]}, 0, ""),
        ({"containers": [{"name": "app", "resources": None}], "initContainers": None, "restartPolicy": None}, 0, ""),
        ({"containers": [{"name": "app", "resources": {"limits": {"memory": None}}}]}, 0, ""),
    ],
)
def test_odd_values_in_files(kres: Kres, file, change: dict[str, object], code: int, message: str):
    odd = {**pod("odd"), "spec": change}
    found = kres(f"explain --offline -o name -f {file(odd)}")
    assert found.code == code and message in found.err and "Traceback" not in found.err


def test_all_faults_of_the_files_are_told(kres: Kres, file):
    bad = [{**pod(name), "spec": {"containers": "none"}} for name in ("one", "two")]
    code, out, err = kres(f"explain --offline -f {file(*bad)}")
    assert (code, out) == (2, "")
    assert [line.split(":")[4] for line in err.splitlines() if line.startswith("error: ")] == [" Pod/one", " Pod/two"]


def test_classes_that_no_file_holds_are_unknown(kres: Kres, file):
    one = pod("web")
    one["spec"]["runtimeClassName"] = "sandboxed"
    code, _, err = kres(f"explain --offline -o name -f {file(one)}")
    assert code == 4
    assert err == (
        "error: the answer is given without the RuntimeClass sandboxed: "
        "the files hold no RuntimeClass, and --offline reads nothing else\n"
    )
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "sandboxed"},
        "handler": "x",
    }
    assert kres(f"explain --offline -o name -f {file(one, runtime)}") == (0, "pod/web\n", "")


def test_what_files_hold_does_not_exist_yet(kres: Kres, file):
    hard = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}}
    code, out, err = kres(f"quota --offline --recount -f {file(hard, pod('web'))}")
    assert code == 4 and "not recounted: the pods were not read" in out
    assert "without the Pod objects" in err and "a Pod of a file does not exist yet, and --offline reads nothing" in err


@pytest.mark.parametrize(
    ("space", "hint"),
    [
        ("chekout", 'there is no namespace "chekout" (--namespace)\n'),
        ("shop", "it exists in another namespace: -n checkout\n"),
    ],
)
def test_of_what_is_not_found_a_namespace_that_is_not_there_is_told(kres: Kres, space: str, hint: str):
    for command in ("explain", "qos", "diff"):
        code, out, err = kres(f"{command} --demo deploy/checkout -n {space}")
        assert (code, out) == (3, "")
        assert err == f'Error from server (NotFound): deployments.apps "checkout" not found\n{hint}'


@pytest.mark.parametrize(
    ("words", "close"), [("deployy/storefront", "deploy"), ("deploymnt storefront", "deployment"), ("zz/a", "")]
)
def test_a_mistyped_type_is_guessed(kres: Kres, words: str, close: str):
    code, _, err = kres(f"explain {words} --demo")
    assert code == 3
    assert (f"did you mean {close}?" in err) == bool(close)


def test_kinds_of_which_there_are_many_are_read_in_one_pass(kres: Kres, shop, monkeypatch):
    run = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "r", "namespace": "shop"}}
    shop.objects.append(run)
    kres("snapshot -A --out all.kres")
    passes = []
    pages = snapshots.pages
    monkeypatch.setattr(
        snapshots, "pages", lambda path, *kinds, **more: passes.append({*kinds}) or pages(path, *kinds, **more)
    )
    assert kres("simulate --snapshot all.kres -n shop --set limitrange/limits:spec.limits=[]").code == 0
    assert passes == [{"Pod", "TaskRun"}]
