"""``explain -o describe``: which kinds have a block, what is read for it, what it goes with."""

from __future__ import annotations

import pytest
from cli.apiserver import deployment, pod
from cli.running import Kres

SPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "shop", "labels": {"team": "a\x1b[2J"}},
    "status": {"phase": "Active"},
}
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "team", "namespace": "shop"},
    "spec": {"hard": {"pods": "4"}},
    "status": {"hard": {"pods": "4"}, "used": {"pods": "1"}},
}


@pytest.fixture
def shop(api):
    secret = pod("web", "256Mi")
    secret["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": "hunter2"}]
    api.objects += [SPACE, QUOTA, secret, deployment("web")]
    return api


@pytest.mark.parametrize(
    ("words", "shown", "asked"),
    [
        ("quota/team", "pods        1     4", {"resourcequotas/team"}),
        ("limits/limits", "Container   memory    -    1Gi  256Mi", {"limitranges/limits"}),
        ("ns/shop", "No resource quota.", {"namespaces/shop"}),
        ("pod/web", "QoS Class:", {"pods/web"}),
    ],
)
def test_the_block_of_each_kind(kres: Kres, shop, words: str, shown: str, asked: set[str]):
    shop.objects = [one for one in shop.objects if words != "ns/shop" or one["kind"] == "Namespace"]
    code, out, err = kres(f"explain {words} -o describe")
    assert (code, err) == (0, "") and shown in out
    assert "\x1b" not in out and "hunter2" not in out and "Events" not in out
    found = {path.partition("?")[0].partition("/shop/")[2] or "namespaces/shop" for path in shop.asked}
    extra = {"limitranges", "resourcequotas"} if words == "ns/shop" else set()
    assert found - {"namespaces/shop"} == (asked | extra) - {"namespaces/shop"}


@pytest.mark.parametrize(
    ("words", "code", "err"),
    [
        ("deploy/web", 2, "-o describe shows quotas, LimitRanges, namespaces and pods, not deployments.apps"),
        ("svc/web", 2, "-o describe shows quotas, LimitRanges, namespaces and pods, not services"),
        ("pod/web -c app", 2, "it does not go with --container"),
        ("pod/web --steps", 2, "it does not go with --steps"),
        ("pod/web --for app.limits.cpu", 2, "it does not go with --for"),
        ("pod/web --resize {}", 2, "it does not go with --resize"),
        ("-f x.yaml", 2, "it does not go with -f"),
        ("pods --demo -n shop", 2, "needs the cluster: a snapshot holds only what resources depend on"),
        ("quota/nope", 3, 'resourcequotas "nope" not found'),
        ("pod/nope", 3, 'pods "nope" not found'),
        ("ns/nope", 3, 'namespaces "nope" not found'),
        ("quota -n empty", 3, 'Error from server (NotFound): namespaces "empty" not found'),
    ],
)
def test_what_cannot_be_shown_is_named(kres: Kres, shop, words: str, code: int, err: str):
    found = kres(f"explain {words} -o describe")
    assert (found.code, found.out) == (code, "") and err in found.err, found


@pytest.mark.parametrize("denied", ["resourcequotas", "limitranges", "namespaces"])
def test_a_block_with_a_hole_is_none(kres: Kres, shop, denied: str):
    shop.denied = {denied}
    found = kres("explain ns/shop -o describe")
    assert (found.code, found.out) == (3, "") and f"cannot {'get' if denied == 'namespaces' else 'list'}" in found.err


def test_several_stand_apart(kres: Kres, shop):
    shop.objects.append({**QUOTA, "metadata": {"name": "other", "namespace": "shop"}})
    lines = kres("explain quota -o describe").out.splitlines()
    assert lines[0] == "Name:       other" and lines[5:8] == ["", "", "Name:       team"]
