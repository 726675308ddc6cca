"""Streams that are closed or full, pipes that nobody fills, signals at any moment: documented exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from cli.apiserver import Api, Said, pod
from cli.running import Kres, ended

ROOT = Path(__file__).parents[2]


def environ(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def words(*given: str) -> list[str]:
    return [sys.executable, "-m", "kubectl_kres", *given]


def shell(line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell in which ``kres`` is the program."""
    line = line.replace("kres ", f"{sys.executable} -m kubectl_kres ", 1)
    return subprocess.run(
        ["/bin/bash", "-c", line], env=environ(**more), capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def refused(tmp_path: Path) -> str:
    """A manifest that its LimitRange refuses."""
    limits = {"type": "Container", "max": {"memory": "1Mi"}}
    policy = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "limits", "namespace": "shop"},
        "spec": {"limits": [limits]},
    }
    path = tmp_path / "pods.json"
    path.write_text("\n".join(json.dumps(one) for one in [policy, *(pod(f"p{n:03}", "2Mi") for n in range(300))]))
    return str(path)


@pytest.mark.thorough
@pytest.mark.parametrize(("flag", "code"), [("--exit-code", 1), ("", 0)])
def test_what_was_asked_is_told_though_nobody_reads(refused: str, flag: str, code: int) -> None:
    """A pipe that is closed at once, and an answer that is larger than a pipe."""
    result = shell(f"set -o pipefail; kres explain --offline --steps -f {refused} {flag} | true")
    assert (result.returncode, result.stderr) == (code, "")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("given", ["explain --demo deployments", "version --client", "--help", "schema explain"])
def test_without_a_standard_output_there_is_no_answer(given: str) -> None:
    result = shell(f"kres {given} >&-")
    assert (result.returncode, result.stderr) == (3, "error: writing the output: bad file descriptor\n")


def test_a_snapshot_needs_no_standard_output(api: Api, tmp_path: Path) -> None:
    api.objects.append(pod("web"))
    result = shell(f"kres snapshot --out {tmp_path}/s.kres >&-")
    assert (result.returncode, result.stderr) == (0, f"{tmp_path}/s.kres: 2 objects\n")


@pytest.mark.parametrize(("to", "why"), [(">/dev/full", "no space left on device"), (">&-", "bad file descriptor")])
def test_a_snapshot_to_a_standard_output_that_takes_none(api: Api, to: str, why: str) -> None:
    api.objects.append(pod("web"))
    result = shell(f"kres snapshot --out - {to}")
    assert (result.returncode, result.stderr) == (3, f"error: writing the output: {why}\n")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("to", ["2>/dev/full", "2>&-"])
@pytest.mark.parametrize(
    ("given", "code"), [("explain pod/none", 3), ("explain --zz", 2), ("explain pod/none --zz=1", 2)]
)
def test_a_standard_error_that_takes_nothing(api: Api, to: str, given: str, code: int) -> None:
    api.objects.append(pod("web"))
    assert shell(f"kres {given} {to}").returncode == code


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_snapshot_that_is_ended_leaves_nothing_behind(api: Api, tmp_path: Path, sent: signal.Signals) -> None:
    asked, over = threading.Event(), threading.Event()

    def silent(path: str) -> None:
        if path.endswith("/pods"):
            asked.set()
            over.wait(60)

    api.before = silent
    folder = tmp_path / "out"
    folder.mkdir()
    with (
        subprocess.Popen(
            words("snapshot", "--out", str(folder / "s.kres")), env=environ(), stderr=subprocess.PIPE, text=True
        ) as process,
        ended(process),
    ):
        assert asked.wait(60)
        assert [one.suffix for one in folder.iterdir()] == [".part"]
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
        over.set()
    assert (process.returncode, err) == (-sent, "")
    assert list(folder.iterdir()) == []


def test_who_started_us_ignoring_a_signal_is_obeyed(api: Api) -> None:
    asked, over = threading.Event(), threading.Event()

    def silent(path: str) -> None:
        if path.endswith("/pods"):
            asked.set()
            over.wait(60)

    api.before = silent
    process = subprocess.Popen(
        ["/bin/bash", "-c", f"trap '' HUP; exec {' '.join(words('explain', 'pods'))}"],
        env=environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process, ended(process):
        assert asked.wait(60)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        over.set()
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert err == "No resources found in shop namespace.\n"


@pytest.mark.parametrize("delay", [0.05, 0.1, 0.15, 0.2, 0.3])
def test_ctrl_c_while_the_program_is_loaded(tmp_path: Path, delay: float) -> None:
    """From the moment on at which our own code runs there is no traceback."""
    mark = tmp_path / "here"
    program = (
        "import sys, pathlib; sys.argv = ['kubectl-kres', 'tui' if False else 'explain', '--demo', 'deployments'];"
        "import kubectl_kres.cli.start as start;"
        f"pathlib.Path({str(mark)!r}).write_text('x'); sys.exit(start.entry())"
    )
    with (
        subprocess.Popen(
            [sys.executable, "-c", program], env=environ(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process,
        ended(process),
    ):
        while not mark.exists():
            time.sleep(0.005)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert process.returncode in {0, 130, -2}


def test_a_pipe_that_nobody_writes_to(kres: Kres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubectl_kres.manifests.read.PATIENCE", 0.1)
    os.mkfifo(tmp_path / "p.yaml")
    result = kres(f"explain --offline -f {tmp_path}/p.yaml")
    assert (result.code, result.err) == (2, f"error: {tmp_path}/p.yaml: is a pipe that nobody writes to\n")
    assert kres(f"explain --offline -f {tmp_path}").code == 2


def test_a_pipe_that_is_filled_late_is_read(tmp_path: Path) -> None:
    text = json.dumps(pod("p"))
    result = shell(f"kres explain --offline -f <(sleep 0.5; echo '{text}') -o name")
    assert (result.returncode, result.stdout) == (0, "pod/p\n"), result.stderr


def test_settings_are_no_pipe(kres: Kres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kubectl-kres").mkdir()
    os.mkfifo(tmp_path / "kubectl-kres" / "config.toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    result = kres("explain --demo deployments")
    assert result.code == 2
    assert result.err.endswith("config.toml: a pipe, not a file\n")


def test_a_snapshot_is_no_pipe(kres: Kres, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.kres")
    result = kres(f"explain pods --snapshot {tmp_path}/s.kres")
    assert (result.code, result.err) == (2, f"error: {tmp_path}/s.kres: it is a pipe; a snapshot is read from a file\n")


def test_no_home_and_no_account(kres: Kres, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with a user of any number."""

    def unknown(number: int) -> None:
        raise KeyError(number)

    api.objects.append(pod("web"))
    for name in ("HOME", "KUBECONFIG"):
        monkeypatch.delenv(name)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    result = kres(f"qos pod/web -n shop --server {api.url}")
    assert (result.code, result.err) == (0, "")
    nothing = kres("qos")
    assert (nothing.code, nothing.out) == (3, "")
    assert nothing.err.startswith("error: no kubeconfig: .kube/config does not exist")


def test_memory_that_does_not_suffice_is_no_bug(kres: Kres, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("kubectl_kres.cluster.read.fill_store.fill", fill)
    result = kres("explain pod/web")
    assert result.code == 3
    assert result.err == "error: the memory does not suffice: ask about fewer objects, or with a smaller --chunk-size\n"


def test_everything_404_is_no_bug(kres: Kres, api: Api) -> None:
    api.answer = lambda _path, _query: (404, b"404 page not found\n")
    for command in ("snapshot --out s.kres", "explain pods", "quota -A", "claims -A", "pools", "qos -A", "version"):
        result = kres(command)
        assert result.code == (0 if command == "version" else 3), (command, result)
        assert "Traceback" not in result.err
    assert "nothing could be read, and nothing is written" in kres("snapshot --out s.kres").err
    assert not Path("s.kres").exists()


def test_a_chunk_of_negative_size_is_no_bug(kres: Kres, api: Api) -> None:
    api.faults["pods"] = Said(200, b"-5\r\n{}\r\n0\r\n\r\n", headers={"Transfer-Encoding": "chunked"})
    result = kres("qos -A")
    assert result.code == 3
    assert "Traceback" not in result.err


def test_a_map_with_a_text_for_a_list(kres: Kres, tmp_path: Path) -> None:
    path = tmp_path / "pool.yaml"
    path.write_text(
        "apiVersion: capsule.clastix.io/v1beta2\nkind: ResourcePool\nmetadata: {name: p}\nstatus: {claims: {a: x}}\n"
    )
    result = kres(f"claims -f {path} --demo")
    assert result.code == 2
    assert 'status.claims.a: invalid type: got "string", expected "array"' in result.err


def test_a_ratio_of_nothing(kres: Kres, api: Api) -> None:
    """No API server stores it; one that does refuses every pod."""
    limits = {"type": "Container", "default": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "0"}}
    api.objects[0] = {**api.objects[0], "spec": {"limits": [limits]}}
    api.objects.append(pod("web"))
    result = kres("explain pod/web")
    assert result.code == 0
    assert "Traceback" not in result.err
