"""``simulate`` of what controllers make beside pods: the same account as ``explain`` reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.account_worlds import World, _metadata
from cli.apiserver import Api
from cli.running import Kres

Raw = dict[str, Any]
SPACE = "shop"
COUNTED = "count/controllerrevisions.apps"


def world(api: Api, hard: str, *, stale: bool = False, kind: str = "StatefulSet", history: int = 1) -> Raw:
    """A workload with two pods of the image ``img:1``, under a quota on its ControllerRevisions."""
    new = World(1)
    new.objects.clear()
    new._add("Namespace", "v1", _metadata(SPACE, space=""), status={"phase": "Active"})
    template = {"metadata": {"labels": {"a": "web"}}, "spec": {"containers": [{"name": "c", "image": "img:1"}]}}
    for number in range(history):
        older = json.loads(json.dumps(template).replace("img:1", f"img:{1 - number}"))
        name = f"web-r{1 - number}"
        new._add(
            "ControllerRevision", "apps/v1", _metadata(name, owner=(kind, "web"), labels={"a": "web"}),
            data={"spec": {"template": older}}, revision=9 - number,
        )  # fmt: skip
    labels = {"controller-revision-hash": "web-r1" if kind == "StatefulSet" else "r1"}
    for number in range(2):
        new._pod(f"web-{number}", template, (kind, "web"), labels, claims=True)
    now = json.loads(json.dumps(template).replace("img:1", "img:2")) if stale else template
    spec: Raw = {"selector": {"matchLabels": {"a": "web"}}, "template": now}
    if kind == "StatefulSet":
        spec |= {"replicas": 2, "serviceName": "web"}
        status: Raw = {"replicas": 2, "readyReplicas": 2, "currentRevision": "web-r1", "updateRevision": "web-r1"}
    else:
        status = {"desiredNumberScheduled": 2, "currentNumberScheduled": 2, "updatedNumberScheduled": 2}
    meta = _metadata("web", generation=2 if stale else 1)
    new._add(kind, "apps/v1", meta, spec=spec, status={**status, "observedGeneration": 1})
    quota = {"hard": {COUNTED: hard}}
    new._add("ResourceQuota", "v1", _metadata("q"), spec=quota, status={**quota, "used": {COUNTED: str(history)}})
    api.objects[:] = new.objects
    return next(item for item in new.objects if item["kind"] == kind)


def file_of(folder: Path, workload: Raw, image: str) -> Path:
    path = folder / "web.json"
    written = {key: value for key, value in workload.items() if key != "status"}
    written["metadata"] = {"name": "web", "namespace": SPACE}
    path.write_text(json.dumps(written).replace("img:1", image))
    return path


def change(kres: Kres, command: str) -> Raw:
    [found] = json.loads(kres(f"{command} -n {SPACE} -o json").out)["items"]
    return dict(found)


def test_a_revision_without_room_stalls_the_rollout(kres: Kres, api: Api, tmp_path: Path):
    path = file_of(tmp_path, world(api, "1"), "img:2")
    found = change(kres, f"simulate -f {path}")
    [web] = found["workloads"]
    assert (found["outcome"], web["effect"], web.get("stalled")) == ("worse", "worse", True)
    assert "exceeded quota: q, requested: count/controllerrevisions.apps=1" in web["refusals"][0]
    explained = json.loads(kres("explain", "-f", str(path), "-n", SPACE, "-o", "json").out)
    item = explained["items"][0] if "items" in explained else explained
    assert item["verdict"]["outcome"] == "refused"


def test_a_revision_with_room_rolls_out(kres: Kres, api: Api, tmp_path: Path):
    found = change(kres, f"simulate -f {file_of(tmp_path, world(api, '2'), 'img:2')}")
    assert [item["subject"]["name"] for item in found["workloads"]] in ([], ["web"])
    assert not any(item.get("stalled") for item in found["workloads"])
    [quota] = found["quotas"]
    assert (quota["usedBefore"], quota["usedAfter"]) == ("1", "2")


def test_a_revision_that_is_kept_is_not_made_again(kres: Kres, api: Api, tmp_path: Path):
    found = change(kres, f"simulate -f {file_of(tmp_path, world(api, '2', history=2), 'img:0')}")
    assert found["outcome"] == "none", found


def test_room_lets_a_rollout_go_on_that_had_none(kres: Kres, api: Api):
    world(api, "1", stale=True)
    found = change(kres, f"simulate --set quota/q:spec.hard.{COUNTED}=2")
    assert found["outcome"] == "better", found


@pytest.mark.parametrize("hard", ["0", "1"])
def test_a_new_set_without_room_for_its_revision_gets_no_pod(kres: Kres, api: Api, tmp_path: Path, hard: str):
    workload = world(api, hard)
    api.objects[:] = [item for item in api.objects if item["kind"] in {"Namespace", "ResourceQuota"}]
    quota = api.objects[-1]
    quota["status"]["used"] = {COUNTED: "0"}
    found = change(kres, f"simulate -f {file_of(tmp_path, workload, 'img:2')}")
    [web] = found["workloads"]
    assert web["after"]["pods"] == (2 if hard == "1" else 0)


def test_what_is_deleted_takes_its_revisions_with_it(kres: Kres, api: Api):
    world(api, "2", history=2)
    found = change(kres, "simulate --delete sts/web")
    [quota] = found["quotas"]
    assert (quota["usedBefore"], quota["usedAfter"]) == ("2", "0")


def test_the_next_rollout_has_no_room_for_a_revision(kres: Kres, api: Api):
    world(api, "2")
    found = change(kres, f"simulate --set quota/q:spec.hard.{COUNTED}=1")
    [web] = found["workloads"]
    assert "count/controllerrevisions.apps=1" in web["rolloutAfter"]["message"]


def test_a_daemon_set_of_another_template_makes_no_pod(kres: Kres, api: Api, tmp_path: Path):
    path = file_of(tmp_path, world(api, "1", kind="DaemonSet"), "img:2")
    found = change(kres, f"simulate -f {path}")
    [web] = found["workloads"]
    assert "count/controllerrevisions.apps=1" in web["nextAfter"]["message"]


def test_a_cron_job_without_room_for_its_next_job(kres: Kres, api: Api):
    made = World(1)
    made.objects.clear()
    made._add("Namespace", "v1", _metadata(SPACE, space=""), status={"phase": "Active"})
    made._cronjob("nightly", 1)
    jobs = {"count/jobs.batch": str(sum(item["kind"] == "Job" for item in made.objects))}
    quota = {"hard": {"count/jobs.batch": "9"}}
    made._add("ResourceQuota", "v1", _metadata("q"), spec=quota, status={**quota, "used": jobs})
    api.objects[:] = made.objects
    found = change(kres, f"simulate --set quota/q:spec.hard.count/jobs.batch={jobs['count/jobs.batch']}")
    [cron] = found["workloads"]
    assert (cron["effect"], "count/jobs.batch=1" in cron["nextAfter"]["message"]) == ("worse", True)
