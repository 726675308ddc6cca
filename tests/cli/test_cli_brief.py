"""``-o brief``: outcome, cause, remedy and next command, in at most five lines each."""

from __future__ import annotations

import shlex
import time

import pytest
from cli.apiserver import Api, deployment
from cli.running import Kres

from kubectl_kres.snapshot import read as demo


def test_a_refused_workload(kres: Kres):
    code, out, err = kres("explain --demo deploy/checkout -n checkout -o brief")
    lines = out.splitlines()
    assert (code, err, len(lines)) == (0, "", 5)
    assert lines[0].startswith("refused: checkout/Deployment/checkout: ") and "requests.memory" in lines[0]
    assert [line[:8].strip() for line in lines[1:]] == ["fix", "", "or", "next"]
    assert lines[4] == "next    kubectl kres quota team -n checkout --by workload --demo"


def test_a_command_that_can_be_pasted(kres: Kres, api: Api):
    api.objects.append(deployment("web", "2Gi"))
    lines = kres("explain deploy/web -n shop -o brief").out.splitlines()
    assert len(lines) <= 5
    assert any(line.startswith("run     kubectl ") for line in lines)


@pytest.mark.parametrize("words", ["deployments -n checkout", "deployments -A", "pods -n shop"])
def test_many(kres: Kres, words: str):
    blocks = kres(f"explain --demo {words} -o brief").out.rstrip("\n").split("\n\n")
    assert len(blocks) > 1
    assert max(len(block.splitlines()) for block in blocks) <= 5


@pytest.mark.parametrize("words", ["ns/shop", "claim/sweep -n ml-training", "deploy/cart -n shop"])
def test_what_has_less_to_say(kres: Kres, words: str):
    code, out, _ = kres(f"explain --demo {words} -o brief")
    assert code == 0 and 1 <= len(out.splitlines()) <= 5


def test_files_and_exit_codes(kres: Kres, file):
    path = file(deployment("web", "2Gi"))
    assert kres(f"explain --demo -n shop -f {path} -o brief --exit-code").code in {0, 1}
    assert kres("explain --demo deploy/checkout -n checkout -o brief --exit-code").code == 1


EACH = (
    "explain deployments,jobs -A",
    "explain quota -A",
    "explain limits -A",
    "explain ns/shop",
    "explain pvc,services -A",
    "explain taskruns,tasks,pipelineruns,pipelines -n ci",
    "explain pool/ml-compute",
    "explain claims -A",
    "quota -A",
    "quota --denied -A",
    "quota --fit deploy/checkout -n checkout",
    "claims -A",
    "claims sweep -n ml-training",
    "pools",
    "check -A",
    "overview -A",
    "overview -n shop",
    "qos pods -n batch",
    "qos deploy/checkout -n checkout",
    "diff deploy/pricing -n checkout",
    "diff deploy/checkout -n checkout",
    "claims --for deploy/notebook-hub -n ml-notebooks",
    "claims --for deploy/ranker -n ml-serving",
    "simulate --scale deploy/cart=9 -n shop",
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("words", EACH)
@pytest.mark.parametrize("source", ["--demo", "--snapshot the\\ snapshot.kres"])
def test_five_lines_and_what_comes_next_can_be_pasted(kres: Kres, words: str, source: str, tmp_path):
    """Each answer begins with its outcome; each command of ours asks the same source."""
    (tmp_path / "the snapshot.kres").write_bytes(demo.demo_path().read_bytes())
    code, out, err = kres("", *shlex.split(f"{words} {source} -o brief"))
    assert (code, err) == (1 if words.startswith(("check", "diff")) else 0, "")
    blocks = out.rstrip("\n").split("\n\n")
    following = []
    for block in blocks:
        first, *rest = block.splitlines()
        assert len(rest) < 5
        if "error" in first and "warning" in first and words.startswith("check"):
            continue  # how many there are
        assert ": " in first
        labels = [line[:8].strip() for line in rest]
        order = ["fix", "run", "", "or", "next"]
        assert labels == [label for label in order if label in labels]
        following += [line.removeprefix("next    kubectl kres ") for line in rest if line.startswith("next    ")]
    assert following or words.startswith("simulate")
    for one in list(dict.fromkeys(following))[:6]:
        code, _, err = kres("", *shlex.split(one))
        assert code in {0, 1}, (one, err)
        assert "--demo" in one if source == "--demo" else "--snapshot 'the snapshot.kres'" in one


def test_a_change_of_files_and_files_themselves(kres: Kres, file):
    small = {"type": "Container", "max": {"memory": "256Mi"}}
    path = file(
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"}, "spec": {"limits": [small]}}
    )
    lines = kres(f"simulate --demo -n shop -f {path} -o brief").out.splitlines()
    assert lines[0].startswith("worse: ") and lines[1].startswith("next    kubectl kres explain deployment/storefront ")
    assert "above the max 256Mi" in kres(lines[1].partition("kubectl kres ")[2]).out
    path = file(deployment("web", "2Gi", "checkout"))
    *_, last = kres(f"explain --demo -f {path} -n checkout -o brief").out.splitlines()
    assert last == "next    kubectl kres quota team -n checkout --by workload --demo"
    small["max"] = {"memory": "1Mi"}
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small"}, "spec": {"limits": [small]}}
    path = file(limits, deployment("web", "2Gi"))
    *_, last = kres(f"explain --offline -f {path} -n shop -o brief").out.splitlines()
    assert last == f"next    kubectl kres explain -n shop -f {path} --offline"
    assert "refused" in kres(last.partition("kubectl kres ")[2]).out


def test_the_next_command_goes_to_the_same_server(kres: Kres, api: Api):
    quota = {"metadata": {"name": "team", "namespace": "shop"}, "kind": "ResourceQuota", "apiVersion": "v1"}
    api.objects.append(
        {**quota, "spec": {"hard": {"pods": "1"}}, "status": {"hard": {"pods": "1"}, "used": {"pods": "1"}}}
    )
    out = kres("quota -n shop --as reader -o brief").out.splitlines()
    assert out[-1] == "next    kubectl kres quota team -n shop --by workload --as reader"


@pytest.mark.parametrize("flag", ["--steps", "-c app", "--for app.limits.cpu"])
def test_flags_that_ask_for_more(kres: Kres, flag: str):
    code, _, err = kres(f"explain --demo deploy/checkout -n checkout -o brief {flag}")
    assert code == 2 and "-o brief says no more than five lines" in err


@pytest.mark.parametrize("words", ["qos deploy/cart -n shop --cgroup v2", "qos -A --summary", "qos -A --open"])
def test_answers_that_are_longer(kres: Kres, words: str):
    code, _, err = kres(f"{words} --demo -o brief")
    assert code == 2 and "-o brief says no more than five lines" in err


def test_lists_of_differences_leave_out_what_is_the_same(kres: Kres):
    code, out, err = kres("diff pods -A --demo -o brief")
    firsts = [block.partition(":")[0] for block in out.rstrip("\n").split("\n\n")]
    assert (code, set(firsts)) == (1, {"differs"})
    assert err == f"{len(firsts)} of 60 objects differ\n"


def test_what_is_not_changed_is_the_same(kres: Kres, file):
    pod = {"containers": [{"name": "app", "image": "i"}]}
    path = file({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": pod})
    code, out, _ = kres(f"diff --offline -n shop -f {path} -o brief")
    assert (code, out.splitlines()) == (
        0,
        [
            "the same: shop/Pod/web: it is stored as it is written",
            f"next    kubectl kres diff -n shop -f {path} --offline",
        ],
    )


def test_the_classes_of_pods_and_what_leads_to_another(kres: Kres):
    first, *rest = kres("qos pod/thumbnails-29sb6 -n batch --demo -o brief").out.splitlines()
    assert first == (
        "BestEffort: batch/Pod/thumbnails-29sb6: container resize has no cpu request and no cpu limit; and 1 more"
    )
    assert [line.partition(":")[0].partition(" ")[2].strip() for line in rest[:2]] == [
        "for the next pod to be Guaranteed",
        "for the next pod to be Burstable",
    ]


def test_it_costs_no_more_cpu_than_the_whole_answer(kres: Kres):
    """Beside the same answer in full, since the machine may be busy."""
    used: dict[str, list[float]] = {"brief": [], "text": []}
    for _ in range(6):
        for form, times in used.items():
            began = time.process_time()
            kres(f"explain --demo deploy/checkout -n checkout -o {form}")
            times.append(time.process_time() - began)
    # The first of each loads what it needs.
    assert min(used["brief"]) <= min(used["text"]) * 1.3
