"""States of which neither a condition nor an event of the object says anything."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from reports.stored import made, owned_by, store_of, subject, template

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pod import explain as brief
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.brief import lines
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.explain.object_state import object_state
from kubectl_kres.reports.pod.events import ready_text
from kubectl_kres.snapshot.read import read
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

NOW = "2026-01-01T01:00:00Z"
UNSCHEDULABLE = {
    "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
    "message": "0/3 nodes are available: 3 Insufficient cpu.",
}  # fmt: skip


def _job(**more: Any):
    spec = {"parallelism": 1, "template": template()["template"]}
    return made("Job", "tick-1", spec=spec, status={"active": 1}, **owned_by("CronJob", "tick"), **more)


def test_a_cron_job_waits_as_the_pods_of_its_job_do_which_were_read_by_the_label_of_all_jobs():
    spec = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template()["template"]}}}
    tick = made("CronJob", "tick", spec=spec, status={"active": [{"name": "tick-1", "uid": "u"}]})
    pod = made("Pod", "tick-1-a", spec=template()["template"]["spec"], labels={"job-name": "tick-1"},
               status={"phase": "Pending", "conditions": [UNSCHEDULABLE]}, **owned_by("Job", "tick-1"))  # fmt: skip
    full = store_of(tick, _job(), pod)
    store = Store(Origin("cluster"))
    for kind in ("CronJob", "Job", "Pod"):
        for item in full.all(kind, "ns"):
            store.add(kind, item)
    store.cover(ReadRequest("Pod", "ns", label_selector="job-name", required=False), READ)
    state = object_state(store, ObjectRef("CronJob", "tick", "ns"), NOW)
    assert state is not None
    assert (state.state, state.reason) == ("waits", "NoNode")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "late"}}]}, "UnboundVolumeClaim"),
        ({"resourceClaims": [{"name": "g", "resourceClaimName": "g"}]}, "ResourceClaimNotAllocated"),
    ],
)
def test_a_pod_whose_node_is_chosen_waits_for_what_is_bound_first_and_the_scheduler_did_answer(spec, reason):
    inner = {**template()["template"]["spec"], **spec}
    pod = made("Pod", "p", spec=inner, status={"phase": "Pending", "nominatedNodeName": "n0"})
    state = object_state(store_of(pod), ObjectRef("Pod", "p", "ns"), NOW)
    assert state is not None
    assert (state.state, state.reason, state.by) == ("waits", reason, "n0")
    assert "n0" in sentence_text(state.detail) and "start the scheduler" not in sentence_text(state.next)


def test_a_daemon_set_that_no_node_is_to_run_is_off_and_says_so():
    status = {"observedGeneration": 1, "desiredNumberScheduled": 0}
    agent = made("DaemonSet", "agent", spec=template(), status=status)
    found = explain(store_of(agent), subject("DaemonSet/agent"), EvaluationOptions())
    assert found.run_state is not None
    assert (found.run_state.state, found.run_state.reason) == ("off", "NoNode")
    text = "\n".join(lines(brief.brief(found, "")))
    assert "nothing to change" not in text
    assert "nodeSelector" in text


def test_items_of_a_snapshot_that_say_no_kind_are_of_the_kind_of_their_page(tmp_path: Path):
    header = {"kres": "snapshot", "format": 1, "version": "0.1.0", "origin": "test", "time": NOW,
              "server": "v1.36.3", "context": "c", "coverage": []}  # fmt: skip
    page = {"kind": "Job", "items": [{"metadata": {"name": "a", "namespace": "ns"}}]}
    body = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (header, page)).encode()
    end = b'{"end":true,"objects":1,"coverage":null,"crc32":'
    path = tmp_path / "s.kres"
    path.write_bytes(body + end + b"%d}\n" % zlib.crc32(end, zlib.crc32(body)))
    job = read(str(path)).get("Job", "a", "ns")
    assert job is not None
    assert (job.kind, job.api_version) == ("Job", "batch/v1")


def test_a_daemon_set_whose_first_revision_is_refused_lacks_pods_though_none_are_counted_yet():
    hard = {"count/controllerrevisions.apps": "1"}
    quota = made("ResourceQuota", "q", spec={"hard": hard}, status={"hard": hard, "used": hard})
    agent = made("DaemonSet", "agent", spec=template(), status={"desiredNumberScheduled": 0}, generation=2)
    found = explain(store_of(agent, quota), subject("DaemonSet/agent"), EvaluationOptions())
    assert found.verdict.outcome == "refused"
    assert found.run_state is not None and found.run_state.state == "waits"
    assert "no pods at present" not in "\n".join(lines(brief.brief(found, "")))


def test_a_daemon_set_whose_status_is_behind_is_as_ready_as_its_pods():
    wants = {"desiredNumberScheduled": 1, "currentNumberScheduled": 1, "updatedNumberScheduled": 1}
    wants |= {"observedGeneration": 1}
    agent = made("DaemonSet", "agent", spec={"selector": {"matchLabels": {"a": "b"}}, **template()}, status=wants,
                 generation=2)  # fmt: skip
    running = {"name": "app", "ready": True, "state": {"running": {"startedAt": NOW}}}
    pod = made("Pod", "agent-x", spec=template()["template"]["spec"], **owned_by("DaemonSet", "agent"),
               status={"phase": "Running", "containerStatuses": [running]})  # fmt: skip
    store, ref = store_of(agent, pod, unread=("ControllerRevision",)), ObjectRef("DaemonSet", "agent", "ns")
    state = object_state(store, ref, NOW)
    assert state is not None
    assert (state.state, state.ready, state.wanted) == ("runs", 1, 1)
    assert ready_text("DaemonSet", store.get(ref.kind, ref.name, ref.namespace), state) == "1/1"
    assert ready_text("DaemonSet", store.get(ref.kind, ref.name, ref.namespace)) == "0/1"
