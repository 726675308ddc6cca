"""Situations that people asked about in public, played on real servers: the whole page is what a reader gets.

Each snapshot is the cluster as it was stuck; the fix that the page prints first was applied there, and it worked.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.running import Kres
from golden.kept import compare

HERE = Path(__file__).parent
#: By snapshot: what is asked for, and its namespace.
ASKED = {
    "injected-amount": ("deploy/gate", "tollgate2"),
    "injected-breaks-pod-security": ("deploy/ledger", "vaulted"),
    "injected-into-tasks": ("taskrun/fresh", "mill"),
    "injected-without-values": ("deploy/pilot", "harbour"),
    "quota-from-elsewhere": ("deploy/teller", "canton-a"),
    "hpa-over-quota": ("hpa/actor", "stage"),
    "older-revision-without-node": ("sts/grape", "vine"),
    "one-replica-full-node": ("deploy/stove", "cabin"),
    "vpa-over-node": ("deploy/anvil", "forge"),
    "full-zone-holds-spread": ("deploy/tree", "orchard"),
    "pods-that-end-slowly": ("deploy/deck", "ferry"),
    "stale-use": ("deploy/crate", "depot2"),
    "ended-pods-count": ("taskrun/fresh", "mill"),
    "ratio-by-division": ("taskrun/grind", "mill"),
    "override-for-no-task": ("pipelinerun/typo", "mill"),
    "surge-over-quota": ("deploy/weft", "loom"),
    "cronjob-overlaps": ("cronjob/tick", "s27"),
    "autoscaled-on-full-node": ("deploy/busy", "s01"),
    "corrected-selector": ("sts/db", "s03"),
    "huge-pages-over-node": ("deploy/dpdk", "s09"),
    "devices-over-node": ("deploy/train", "s10"),
    "storage-class-missing": ("deploy/app", "s13"),
}
#: Those of one cluster.
TOGETHER = ("autoscaled-on-full-node", "corrected-selector", "huge-pages-over-node", "devices-over-node",
            "storage-class-missing")  # fmt: skip


def snapshot_of(name: str) -> str:
    """The file of a situation, in the folder of this one."""
    return "nodes-of-many.kres.gz" if name in TOGETHER else f"{name}.kres"


@pytest.mark.parametrize("name", ASKED)
def test_page(kres: Kres, name: str, monkeypatch: pytest.MonkeyPatch):
    # A path of the same length everywhere: pages break their lines at words.
    monkeypatch.chdir(HERE)
    what, space = ASKED[name]
    found = kres("explain", what, "-n", space, "--snapshot", snapshot_of(name), "--exit-code")
    assert (found.code, found.err) == (1, "")
    compare(HERE / f"{name}.txt", found.out)


@pytest.mark.parametrize("name", ASKED)
def test_no_list_is_calmer(kres: Kres, name: str):
    what, space = ASKED[name]
    kind = what.partition("/")[0].replace("hpa", "deploy")
    found = kres("explain", kind, "-n", space, "--snapshot", str(HERE / snapshot_of(name)), "--exit-code")
    assert found.code == 1, found.out
    # A claim that does not bind is named with what it lacks.
    assert ("next    what to change:\n        kubectl kres explain " in found.out) is (name != "storage-class-missing")


#: What explains an object finds first; the overview says the same, though it reads no more than it needs.
@pytest.mark.parametrize("name", ["stale-use", "pods-that-end-slowly", "vpa-over-node", "one-replica-full-node"])
def test_the_overview_has_the_first_fix(kres: Kres, name: str):
    what, space = ASKED[name]
    where = ("-n", space, "--snapshot", str(HERE / snapshot_of(name)), "-o", "json")
    explained = json.loads(kres("explain", what, *where).out)["items"][0]
    problems = json.loads(kres("overview", *where).out)["items"][0]["problems"]
    of_it = next(problem for problem in problems if problem["subject"]["name"] == what.partition("/")[2])
    assert of_it["fixes"][0]["text"] == explained["fixes"][0]["text"]
