"""``-w`` against a server whose objects change while the program runs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli.apiserver import deployment, kubeconfig, pod
from cli.running import Kres, Result, ended
from cluster.living import Cluster, Fault, living

from kubectl_kres.cli import watch as following
from kubectl_kres.cluster.transport import deadline as backoff
from kubectl_kres.cluster.watch import need_reader
from kubectl_kres.render.text.line import age_text


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A deployment that the quota ``team`` has no room for."""
    monkeypatch.setattr(following, "TICK", 0.002)
    monkeypatch.setattr(following, "EVERY", 0.02)
    with living() as one:
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, one.url))
        put(one, "deployments", deployment("web", "512Mi"))
        put(one, "pods", pod("web", "512Mi"))
        put(one, "resourcequotas", quota("1Gi"))
        yield one


def put(cluster: Cluster, plural: str, one: dict[str, Any]) -> None:
    fields = {key: value for key, value in one.items() if key != "metadata"}
    metadata = dict(one["metadata"])
    cluster.put(plural, metadata.pop("namespace"), metadata.pop("name"), metadata=metadata, **fields)


def quota(hard: str, name: str = "team") -> dict[str, Any]:
    amounts = {"requests.memory": hard}
    status = {"hard": amounts, "used": {"requests.memory": "1Gi"}}
    return {
        "kind": "ResourceQuota",
        "metadata": {"namespace": "shop", "name": name},
        "spec": {"hard": amounts},
        "status": status,
    }


class Watched:
    """Runs the program, and does a deed after each block that it wrote; Ctrl-C comes after the last one."""

    def __init__(self, kres: Kres, monkeypatch: pytest.MonkeyPatch) -> None:
        self._kres, self._deeds, self._written = kres, [], 0
        self._write = following._write
        monkeypatch.setattr(following, "_write", self._note)

    def __call__(self, text: str, *deeds: Callable[[], object]) -> Result:
        self._deeds = list(deeds)
        return self._kres(text)

    def _note(self, out: str, err: str) -> None:
        self._write(out, err)
        if self._written < len(self._deeds):
            self._deeds[self._written]()
        elif "--until" not in sys.argv:
            raise KeyboardInterrupt
        self._written += 1


@pytest.fixture
def watched(cluster: Cluster, kres: Kres, monkeypatch: pytest.MonkeyPatch) -> Watched:
    del cluster
    return Watched(kres, monkeypatch)


def test_until_admitted(cluster: Cluster, watched: Watched) -> None:
    result = watched(
        "explain deploy/web -w --until admitted --timeout 60s", lambda: put(cluster, "resourcequotas", quota("4Gi"))
    )
    assert (result.code, result.err) == (0, "")
    first, second = result.out.split("\n20", 1)
    assert first.startswith("refused: shop/Deployment/web: 0 of 1 pod exists; quota team is short by 512Mi")
    head, verdict, *_ = second.splitlines()
    assert head.endswith("Z after a change of ResourceQuota/team")
    assert verdict == "admitted, but waits: shop/Deployment/web: its pod is not created yet"


def test_until_that_holds_already_ends_at_once(cluster: Cluster, kres: Kres) -> None:
    put(cluster, "resourcequotas", quota("4Gi"))
    result = kres("quota --fit deploy/web -w --until fits -o json")
    assert result.code == 0
    assert json.loads(result.out)["items"][0]["enough"] is True
    assert not any(verb == "watch" for verb, _ in cluster.asked)


def test_what_changes_no_answer_prints_nothing(
    cluster: Cluster, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second change is made when the first one has been answered."""
    again, answers = following._Loop._print_changes, []

    def count(loop: Any) -> None:
        again(loop)
        answers.append(1)
        if len(answers) == 3:
            put(cluster, "resourcequotas", quota("2Gi"))
        elif len(answers) < 3:
            put(cluster, "resourcequotas", {**quota("1Gi"), "more": len(answers)})

    monkeypatch.setattr(following._Loop, "_print_changes", count)
    result = watched("quota team -w", lambda: put(cluster, "resourcequotas", {**quota("1Gi"), "more": 0}))
    assert (result.code, result.err) == (130, "")
    assert result.out.count("quota team in shop") == 2
    assert "2Gi" in result.out.split("after a change of ResourceQuota/team")[1]


def event(message: str, count: int, name: str = "web.1", second: int = 1) -> dict[str, Any]:
    return {
        # The server of these tests selects by metadata alone.
        "metadata": {"name": name, "namespace": "shop", "type": "Warning"},
        "type": "Warning",
        "involvedObject": {"kind": "ReplicaSet", "name": "web-7", "namespace": "shop"},
        "reason": "FailedCreate",
        "message": f'Error creating: pods "web-7-{count}" is forbidden: {message}',
        "count": count,
        "lastTimestamp": f"2026-11-21T10:00:{second:02}Z",
    }


@pytest.mark.parametrize(
    ("command", "then"),
    [
        ("explain deploy/web --all", ["FailedCreate 8x", "last {ago} ago", "no luck"]),
        ("quota --denied", ["  seen    FailedCreate of ReplicaSet/web-7, last {ago} ago"]),
    ],
)
def test_an_event_that_comes_again_is_no_news_and_another_is(
    cluster: Cluster, watched: Watched, monkeypatch: pytest.MonkeyPatch, command: str, then: list[str]
) -> None:
    """The same said more often, and by a second object, is told with the next answer that is another one."""
    put(cluster, "events", event("no room", 2))
    owner = [{"kind": "Deployment", "name": "web", "apiVersion": "apps/v1", "controller": True}]
    labels = {"namespace": "shop", "labels": {"app": "web"}, "ownerReferences": owner}
    put(cluster, "replicasets", {**deployment("web-7", "512Mi"), "metadata": {"name": "web-7", **labels}})
    again = following._Loop._print_changes

    def go_on(loop: Any) -> None:
        again(loop)
        counts = {one.metadata.name: one.count for one in loop._source.store.all("Event")}
        if counts == {"web.1": 5}:
            put(cluster, "events", event("no room", 3, "web.2", 8))
        elif counts == {"web.1": 5, "web.2": 3}:
            put(cluster, "events", event("no luck", 1, "web.3", 9))

    monkeypatch.setattr(following._Loop, "_print_changes", go_on)
    result = watched(f"{command} -w", lambda: put(cluster, "events", event("no room", 5, second=7)))
    assert result.code == 130
    first, second = result.out.split("\n2026-", 1)
    assert ("FailedCreate 2x" in first, "no luck" in first) == (True, False)
    ago = age_text("2026-11-21T10:00:09Z", datetime.now(UTC).isoformat())
    assert [text for text in then if text.format(ago=ago) not in second] == []
    assert second.partition("\n")[0].endswith(" after a change of Event/web.3")


def test_a_json_document_for_each_change(cluster: Cluster, watched: Watched) -> None:
    result = watched(
        "explain deploy/web -w --until admitted -o json", lambda: put(cluster, "resourcequotas", quota("4Gi"))
    )
    decoder = json.JSONDecoder()
    first, end = decoder.raw_decode(result.out)
    second, _ = decoder.raw_decode(result.out[end:].lstrip())
    assert [one["items"][0]["verdict"]["allowed"] for one in (first, second)] == [False, True]


def test_yaml_documents_are_parted(cluster: Cluster, watched: Watched) -> None:
    result = watched("quota team -w -o yaml", lambda: put(cluster, "resourcequotas", quota("4Gi")))
    found = list(yaml.safe_load_all(result.out))
    assert [one["items"][0]["uses"][0]["hard"] for one in found] == ["1Gi", "4Gi"]


def test_pods_that_come_and_go(cluster: Cluster, watched: Watched) -> None:
    result = watched("qos -w", lambda: put(cluster, "pods", pod("more")), lambda: cluster.delete("pods", "shop", "web"))
    assert (result.code, result.err) == (130, "")
    counts = [line.split(":")[0] for line in result.out.splitlines() if re.search(" objects?: ", line)]
    assert counts == ["1 object", "2 objects", "1 object"]
    first, second, third = (part.splitlines() for part in result.out.split("\n\n20"))
    assert [line.split()[1] for line in (first[0], second[1])] == ["shop/Pod/web", "shop/Pod/more"]
    assert second[0].endswith("Z after a change of Pod/more")
    assert third[0].endswith("Z after a change of Pod/web (gone)")
    assert [len(first), len(second), len(third)] == [2, 3, 2], "of a list only what is new, and the counts"


def test_an_object_that_goes_and_comes_back(cluster: Cluster, watched: Watched) -> None:
    result = watched(
        "explain deploy/web -w --until admitted --timeout 8s",
        lambda: cluster.delete("deployments", "shop", "web"),
        lambda: put(cluster, "deployments", deployment("web", "1Mi")),
        lambda: put(cluster, "resourcequotas", quota("4Gi")),
    )
    assert result.code == 0
    assert result.err == 'Error from server (NotFound): deployments.apps "web" not found\n'
    assert "1Mi" in result.out


def test_a_manifest_that_waits_for_room(cluster: Cluster, watched: Watched, file: Callable[..., str]) -> None:
    result = watched(
        f"explain -f {file(pod('new', '512Mi'))} -w --until admitted --timeout 8s",
        lambda: put(cluster, "resourcequotas", quota("4Gi")),
    )
    assert result.code == 0
    assert "admitted: shop/Pod/new" in result.out


def test_a_server_that_fails_for_a_while(cluster: Cluster, watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is out of date is said once, and when it is no longer."""
    monkeypatch.setattr(backoff, "FIRST", 0.01)
    tell = following._Loop._print_trouble

    def told(loop: Any) -> None:
        tell(loop)
        if loop._trouble:
            cluster.faults.clear()
            put(cluster, "resourcequotas", quota("4Gi"))

    monkeypatch.setattr(following._Loop, "_print_trouble", told)
    cluster.faults.extend(Fault("status", 503, "watch") for _ in range(1000))
    result = watched("explain deploy/web -w --until admitted --timeout 60s")
    assert result.code == 0
    assert {line for line in result.err.splitlines() if "may be out of date" not in line} <= {"up to date again"}
    assert result.err


@pytest.mark.parametrize("text", ["explain deploy/web", "qos deploy/web"])
def test_admitted_as_far_as_seen_is_not_waited_for_as_admitted(cluster: Cluster, kres: Kres, text: str) -> None:
    cluster.denied = {("list", "resourcequotas", "shop")}
    result = kres(f"{text} -w --until admitted --timeout 100ms")
    assert result.code != 0 and result.err.endswith("timed out after 0.1s of waiting until it is admitted\n")
    assert kres(f"{text} -w --until admitted --timeout 60s --allow-partial").code == 0


def test_a_time_limit(cluster: Cluster, kres: Kres) -> None:
    result = kres("explain deploy/web -w --timeout 100ms")
    assert (result.code, result.err) == (0, "")
    result = kres("explain deploy/web -w --timeout 100ms --until admitted")
    assert (result.code, result.err) == (1, "error: timed out after 0.1s of waiting until it is admitted\n")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("explain deploy/web --until admitted", 2, "error: --until goes with -w"),
        ("quota --timeout 3s", 2, "error: --timeout goes with -w"),
        ("explain deploy/web -w --demo", 2, "error: -w follows a cluster; it does not go with --demo"),
        ("quota -w --until fits", 2, "error: --until fits does not apply to this answer"),
        ("quota -w --until soon", 2, 'invalid argument "soon" for "--until" flag'),
        ("qos -w --timeout soon", 2, "error: Invalid timeout value."),
        ("explain deploy/none -w", 3, 'deployments.apps "none" not found'),
        ("diff deploy/web -w", 2, "-w is not supported"),
    ],
)
def test_what_is_refused(cluster: Cluster, kres: Kres, words: str, code: int, message: str) -> None:
    result = kres(words)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert not any(verb == "watch" for verb, _ in cluster.asked)


def test_a_watch_that_is_forbidden_is_said_once(cluster: Cluster, kres: Kres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(need_reader, "POLL", 0.01)
    cluster.denied = {("watch", "resourcequotas", "shop")}
    result = kres("quota team -w --timeout 1s")
    assert result.code == 0
    [said] = result.err.splitlines()
    assert said.startswith("resourcequotas cannot be watched and are read again every half minute: ")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_it_ends_quietly_when_told_to(cluster: Cluster, tmp_path: Path, sent: int, code: int) -> None:
    command = [sys.executable, "-m", "kubectl_kres", "quota", "team", "-w"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with (
        subprocess.Popen(command, env=environ, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
        ended(process),
    ):
        deadline = time.monotonic() + 30
        while not cluster.watching and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(sent)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (code, b"")
    assert b"quota team in shop" in out


def test_a_closed_pipe_ends_it(cluster: Cluster, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kubectl_kres", "quota", "team", "-w"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        command, env=environ, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            put(cluster, "resourcequotas", quota(str(time.monotonic_ns())))
            time.sleep(0.1)
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == b""


def test_one_quota_of_several_is_told_alone(cluster: Cluster, watched: Watched) -> None:
    """Each block is a report: the one that did not change is not printed again."""
    put(cluster, "resourcequotas", quota("2Gi", "other"))
    result = watched("quota -w", lambda: put(cluster, "resourcequotas", quota("4Gi")))
    assert (result.code, result.err) == (130, "")
    first, second = result.out.split("\n20", 1)
    assert [name for name in ("team", "other") if f"quota {name} in shop" in first] == ["team", "other"]
    assert [name for name in ("team", "other") if f"quota {name} in shop" in second] == ["team"]
    assert second.partition("\n")[0].endswith("Z after a change of ResourceQuota/team")
    assert not second.partition("\n")[2].startswith("\n")
