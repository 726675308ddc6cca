"""What only a process of its own shows: the name it is called by, closed pipes, Ctrl-C, terminals."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli.apiserver import LIMITS, pod
from cli.running import ended, written

ROOT = Path(__file__).parents[2]
SCRIPT = "import sys; from kubectl_kres.cli.main import entry; sys.argv[0] = {name!r}; sys.exit(entry())"


def command(*words: str, name: str = "/x/kubectl-kres") -> list[str]:
    return [sys.executable, "-c", SCRIPT.format(name=name), *words]


def environ(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **more}


def run(words: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=environ(), **options)


def test_as_a_module():
    result = run([sys.executable, "-m", "kubectl_kres", "explain", "--zz"])
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "error: unknown flag: --zz\nSee 'python -m kubectl_kres explain --help' for usage.\n"


def test_the_plugin_behind_kubectls_name(tmp_path: Path):
    link = tmp_path / "kubectl-kres"
    link.write_text(f"#!{sys.executable}\nimport sys\nfrom kubectl_kres.cli.main import entry\nsys.exit(entry())\n")
    link.chmod(0o755)
    result = run([str(link), "versoin"])
    assert result.returncode == 2
    assert result.stderr.startswith('error: unknown command "versoin" for "kubectl kres"\n')


def test_a_pipe_that_is_closed_early_ends_quietly(tmp_path: Path):
    path = tmp_path / "pods.json"
    path.write_text("\n".join(json.dumps(one) for one in [LIMITS, *(pod(f"p{index}") for index in range(400))]))
    words = command("explain", "--offline", "-f", str(path), "--steps")
    with subprocess.Popen(
        words, env=environ(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        assert (first[:8], errors, process.wait(60)) == ("admitted", "", 0)


def test_a_full_disk(tmp_path: Path):
    path = tmp_path / "pod.json"
    path.write_text(json.dumps(pod("web")))
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("w") as full:
        words = command("explain", "--offline", "-f", str(path))
        result = subprocess.run(
            words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False, env=environ()
        )
    assert (result.returncode, result.stderr) == (3, "error: writing the output: no space left on device\n")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_while_the_server_is_silent(api, sent: signal.Signals, code: int):
    asked, over = threading.Event(), threading.Event()

    def silent(path: str) -> None:
        if "/pods" in path:
            asked.set()
            over.wait(60)

    api.before = silent
    with (
        subprocess.Popen(
            command("explain", "pods"), env=environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
        ended(process),
    ):
        assert asked.wait(60)
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
        over.set()
    assert (process.returncode, out, err) == (code, "", "")


def test_on_a_terminal(api, tmp_path: Path):
    """Colour, and progress that is wiped out again, only there."""
    api.objects.append(pod("big", "2Gi"))
    words = command("explain", "pods")
    controller, terminal = pty.openpty()
    settings = environ(TERM="xterm")
    settings.pop("NO_COLOR", None)
    with subprocess.Popen(words, env=settings, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        shown = written(controller)
        assert process.wait(60) == 0
    assert b"\x1b[33m" in shown and b"full" in shown
    assert b"\x1b" not in subprocess.run(words, env=settings, capture_output=True, timeout=60, check=True).stdout


def test_start_up_loads_little():
    """One line of help costs click and nothing of what the commands need."""
    program = (
        "import sys; from kubectl_kres.cli.main import entry; entry(['--help']); print(*sys.modules, file=sys.stderr)"
    )
    loaded = set(run([sys.executable, "-c", program]).stderr.split())
    assert "kubectl_kres.cli.main" in loaded
    assert not loaded & {"msgspec", "yaml", "kubernetes", "pydantic", "rich", "textual", "urllib3", "json", "ssl"}
    program = program.replace("['--help']", "['explain', '--offline', '-f', '/dev/null']")
    loaded = set(run([sys.executable, "-c", program]).stderr.split())
    assert "kubectl_kres.reports.explain.explain" in loaded
    assert not loaded & {"kubernetes", "pydantic", "rich", "textual", "urllib3"}
