"""``kubectl kres diff --from``: what changed between two moments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.apiserver import Api, deployment
from cli.running import Kres
from msgspec.structs import replace
from snapshot.moments import write_yesterday

from kubectl_kres.snapshot.read import demo_path, read
from kubectl_kres.snapshot.write import write


@pytest.fixture
def yesterday(tmp_path: Path) -> Path:
    return write_yesterday(tmp_path / "yesterday.kres")


def test_what_became_of_each_object_in_one_table(kres: Kres, yesterday: Path):
    code, out, err = kres(f"diff --from {yesterday} --demo -A")
    assert (code, err) == (0, "")
    assert (
        out
        == """\
all namespaces, from 2026-11-20T17:00:00Z to 2026-11-21T17:28:15Z, 1d later
2 new, 1 worse, 1 changed, 1 gone, 24 as before

CHANGE   OBJECT                            BEFORE     NOW
new      staging/Deployment/workers        not there  partly, 2 of 4 pods
                                                      missing
         only 1 of the 2 missing pods fits (for 1m)
new      batch/ResourceQuota/best-effort   not there  full
         pods 4 of 4, 100%
worse    checkout/Deployment/checkout      waiting    refused, 3 of 3 new pods
                                                      missing, 3 old pods run
         quota team is short by 512Mi of requests.memory (for 2m)
changed  batch/Job/thumbnails              blocked    refused, 2 of 6 pods
                                                      missing
         quota best-effort is short by 1 of pods (for 2m)
gone     checkout/Deployment/old-checkout  waiting    deleted

next kubectl kres explain deployment/workers -n staging --demo
"""
    )


def test_of_one_namespace_objects_are_named_without_it(kres: Kres, yesterday: Path):
    out = kres(f"diff --from {yesterday} --demo -n checkout").out
    assert out.startswith("namespace checkout, from ")
    assert "\nworse   Deployment/checkout " in out and "workers" not in out


def test_the_other_way_round_new_is_gone_and_worse_is_better(kres: Kres, yesterday: Path, tmp_path: Path):
    def changes(line: str) -> dict[str, str]:
        [found] = json.loads(kres(f"{line} -o json").out)["items"]
        return {item["subject"]["name"]: item["change"] for item in found["changes"]}

    there = changes(f"diff --from {yesterday} --demo -A")
    copy = tmp_path / "now.kres"
    assert kres(f"diff --from {yesterday} --demo -A --exit-code").code == 1
    copy.write_bytes(demo_path().read_bytes())
    turned = {"new": "gone", "gone": "new", "worse": "better", "better": "worse", "changed": "changed"}
    back = changes(f"diff --from {copy} --snapshot {yesterday} -A")
    assert back == {name: turned[word] for name, word in there.items()}
    code, _, err = kres(f"diff --from {copy} --snapshot {yesterday} -A --exit-code")
    assert (code, err) == (0, "Warning: --from is the later moment: what it calls new is what is gone\n")


def test_the_same_moment_twice_says_that_all_is_as_before(kres: Kres, yesterday: Path):
    out = kres(f"diff --from {yesterday} --snapshot {yesterday} -A").out
    assert out.endswith("0s later\n27 as before\n")
    [found] = json.loads(kres(f"diff --from {yesterday} --snapshot {yesterday} -A -o json").out)["items"]
    assert "changes" not in found


def _refused(name: str) -> dict[str, object]:
    failed = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": "forbidden: by a webhook",
    }
    status = {"replicas": 0, "conditions": [failed], "observedGeneration": 1}
    return {**deployment(name), "status": status}


@pytest.fixture
def taken(kres: Kres, api: Api, tmp_path: Path) -> Path:
    """A snapshot of a live cluster with one refused Deployment."""
    api.objects.append(_refused("web-000"))
    path = tmp_path / "taken.kres"
    assert kres(f"snapshot --out {path}").code == 0
    return path


def test_a_live_cluster_is_the_later_moment_and_all_problems_are_compared(kres: Kres, api: Api, taken: Path):
    """An overview lists 50 of an area; the 120 that are new push none out."""
    api.objects += [_refused(f"web-{number:03}") for number in range(1, 121)]
    code, out, _ = kres(f"diff --from {taken} --exit-code")
    assert code == 1
    assert "\n120 new, 1 as before\n" in out
    assert "next kubectl kres explain deployment/web-001 -n shop\n" in out


def test_what_could_not_be_read_is_not_taken_for_gone(kres: Kres, api: Api, taken: Path):
    api.denied = {"list deployments"}
    code, out, err = kres(f"diff --from {taken}")
    assert code == 4
    assert "gone" not in out
    assert "not compared, since they could not be read at one of the moments: Deployment" in " ".join(out.split())
    assert "deployments" in out + err


def test_moments_of_two_clusters_are_warned_of(kres: Kres, api: Api, taken: Path):
    other = taken.with_name("other.kres")
    assert kres(f"diff --from {taken}").err == ""
    store = read(str(taken))
    store.origin = replace(store.origin, kind="cluster", name="https://other:6443")
    write(store, str(other))
    err = kres(f"diff --from {other}").err
    assert err.startswith("Warning: the moments are of two clusters: https://other:6443 and http")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("diff deploy/web --from FILE --demo", "no names, files or selectors go with it"),
        ("diff -f a.yaml --from FILE --demo", "no names, files or selectors go with it"),
        ("diff -l a=b --from FILE --demo", "no names, files or selectors go with it"),
        ("diff --from FILE --demo -o name", "-o name does not go with --from"),
        ("diff --from none.kres --demo", "none.kres: the snapshot cannot be read: No such file or directory"),
    ],
)
def test_what_does_not_go_with_it(kres: Kres, yesterday: Path, line: str, text: str):
    code, out, err = kres(line.replace("FILE", str(yesterday)))
    assert (code, out) == (2, "")
    assert text in err
