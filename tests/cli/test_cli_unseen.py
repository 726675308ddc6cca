"""Answers of somebody who may read only some of what an answer needs: nothing is claimed of what was not read."""

from __future__ import annotations

import json
import os
import pty
from contextlib import ExitStack
from pathlib import Path

import pytest
from cli.apiserver import LIMITS, deployment, pod
from cli.running import Kres

from kubectl_kres.cli.output.printer import same_terminal

SAID = "failed quota: team: must specify limits.memory for: app"
FAR = {**LIMITS, "metadata": {"name": "limits", "namespace": "far"}}
BARE = "quota team requires limits.memory on every container"


@pytest.fixture
def tenant(api):
    """LimitRanges would fill in what the quota demands, and may not be read."""
    hard, used = {"limits.memory": "4Gi"}, {"limits.memory": "1Gi"}
    quota = {"hard": hard, "used": used}
    api.objects += [
        {"kind": "Namespace", "metadata": {"name": "shop"}},
        {
            "kind": "ResourceQuota",
            "metadata": {"name": "team", "namespace": "shop"},
            "spec": {"hard": hard},
            "status": quota,
        },
        pod("plain"),
    ]
    api.denied = {"limitranges"}
    return api


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("explain pod/plain", f'server would say: pods "plain" is forbidden: {SAID}'),
        ("explain pods", "shop plain 0/1 runs BestEffort full-as-far-as-seen"),
        ("explain pods", "requires limits.memory on every container 1 object"),
        ("qos pod/plain", f'refused as far as seen: pods "plain" is forbidden: {SAID}'),
        ("qos pods -o wide", f'refused as far as seen: pods "plain" is forbidden: {SAID}'),
        ("quota --fit pod/plain", "no such pod fits as far as seen: shop/Pod/plain"),
        ("diff pod/plain", "# refused as far as seen: shop/Pod/plain"),
        ("explain ns/shop", f"without requests and limits is refused as far as seen: {BARE}"),
        ("explain ns/shop", "limits.memory on every container; LimitRanges, which may fill that in, could not be read"),
        (
            "explain quota/team",
            "limits.memory on every container; LimitRanges, which may fill that in, could not be read",
        ),
        ("explain quota", "shop team ok-as-far-as-seen limits.memory is used to 25%"),
    ],
)
def test_what_unread_limitranges_may_fill_in(kres: Kres, tenant, text: str, said: str):
    found = kres(text)
    words = " ".join(found.out.split())
    assert found.code == 4 and said in words.replace(" status.hard[limits.memory]", ""), found
    assert "no LimitRange" not in words
    tenant.denied = set()
    again = kres(text)
    assert again.code in {0, 1} and "as far as seen" not in again.out and "could not be read" not in again.out, again


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("explain pod/plain", 0),
        ("explain ns/shop", 0),
        ("qos pod/plain", 0),
        ("explain pods", 1),
        ("explain pod/plain -o json", 1),
        ("explain pod/plain -c app", 1),
    ],
)
def test_a_forbidden_read_is_told_once_on_a_terminal(
    kres: Kres, tenant, monkeypatch: pytest.MonkeyPatch, text: str, told: int
):
    """Where both streams end on it, and what standard output has is not all of an answer, they are not the same."""
    monkeypatch.setattr("kubectl_kres.cli.source.live.current_time", lambda: "2026-11-25T12:00:00Z")
    apart = kres(text)
    monkeypatch.setattr("kubectl_kres.cli.run_loop.same_terminal", lambda: True)
    found = kres(text)
    words = 'limitranges is forbidden: User "'
    assert (apart.out, apart.code) == (found.out, found.code)
    assert (apart.err.count(words), found.err.count(words)) == (1, told)
    assert words in " ".join(found.out.split()) or told
    assert found.err.splitlines()[-1].startswith(
        "The answer is given without the LimitRange objects of namespace shop. "
    )


def test_two_streams_on_one_terminal(monkeypatch: pytest.MonkeyPatch):
    pairs = [pty.openpty() for _ in range(2)]
    with ExitStack() as stack:
        ends = [stack.enter_context(os.fdopen(one, "w")) for pair in pairs for one in pair]
        other = stack.enter_context(os.fdopen(os.dup(pairs[0][1]), "w"))
        pipe = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
        for out, err, same in ((ends[1], other, True), (ends[1], ends[3], False), (pipe, ends[1], False),
                               (ends[1], pipe, False), (pipe, pipe, False), (None, ends[1], False)):  # fmt: skip
            monkeypatch.setattr("sys.stdout", out)
            monkeypatch.setattr("sys.stderr", err)
            assert same_terminal() is same


def test_a_resize_that_is_allowed_by_what_was_read(kres: Kres, tenant):
    patch = '{"spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}]}}'
    tenant.objects.append(pod("big", "1Gi"))
    first, second, *_ = kres("explain pod/big --resize", patch).out.splitlines()
    assert first == "allowed as far as seen: shop/Pod/big; nothing restarts; LimitRange could not be"
    assert second == "  read"
    tenant.denied = set()
    first, second, *_ = kres("explain pod/big --resize", patch).out.splitlines()
    assert (first, second) == ("allowed: shop/Pod/big; nothing restarts", "nothing to change")


def test_what_refuses_for_certain_does_so(kres: Kres, tenant):
    tenant.objects.append(deployment("big", "5Gi"))
    assert kres("explain deploy/big").out.startswith(
        "refused: shop/Deployment/big: 0 of 1 pod exists; quota team is short by"
    )


def test_a_template_that_may_not_be_read_is_not_called_lost(kres: Kres, tenant):
    owner = {"kind": "ReplicaSet", "name": "web-x", "controller": True, "apiVersion": "apps/v1"}
    tenant.objects.append(pod("web-1", "256Mi", ownerReferences=[owner]))
    said = "its template is not known (ReplicaSet/web-x {})"
    assert said.format("was not found") in " ".join(kres("explain pod/web-1").out.split())
    tenant.denied = {"replicasets"}
    assert said.format("could not be read") in " ".join(kres("explain pod/web-1").out.split())


@pytest.mark.parametrize("text", ["explain pods", "diff pods", "qos pods", "qos --summary"])
@pytest.mark.parametrize("first", ["shop", "far"])
def test_namespaces_that_may_be_read_are(kres: Kres, api, text: str, first: str):
    """In whatever order they are named; the document says that something is missing."""
    api.objects += [pod("one", "2Gi"), pod("two", "2Gi", namespace="far"), FAR]
    api.denied = {"shop/pods"}
    spaces = f"-n {first} -n {'far' if first == 'shop' else 'shop'}"
    code, out, err = kres(f"{text} {spaces} -o json")
    assert code == 3 and "Error from server (Forbidden): pods is forbidden" in err
    found = json.loads(out)
    assert found["metadata"]["complete"] is False and "far" in json.dumps(found["items"])
    assert kres(f"{text} -n shop -o json")[:2] == (3, "")


@pytest.mark.parametrize("listed", [True, False])
def test_a_claim_whose_bounds_may_not_be_read_is_admitted_as_far_as_seen(kres: Kres, tenant, file, listed: bool):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    head = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    claims = [{**head, "metadata": {"name": name, "namespace": "shop"}, "spec": spec} for name in ("a", "b")]
    tenant.denied |= {"resourcequotas"}
    code, out, _ = kres(f"explain -f {file(*claims[: 1 + listed])} --all")
    assert (code, out.replace("-", " ").count("as far as seen")) == (4, 1 + 2 * listed)
    assert "it costs no quota anything" not in out and ("what it costs quotas is not known" in out) is not listed


def test_every_line_of_a_list_is_counted(kres: Kres, tenant, file):
    tenant.denied = set()
    limits = {**LIMITS, "apiVersion": "v1", "metadata": {"name": "other", "namespace": "shop"}}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    *lines, last = kres(f"explain -f {file(limits, space)}").out.splitlines()
    assert (len(lines), last) == (3, "2 objects: 1 admitted, 1 ok")
