"""What kubectl is told may follow: from the parser's tables, from a cluster in time, and else nothing."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

import pytest
from cli.apiserver import Api, deployment, pod
from cli.running import written

from kubectl_kres.cli import complete, complete_names
from kubectl_kres.cli.program import Program, commands

ROOT = Path(__file__).parents[2]
KUBECTL = shutil.which("kubectl")
#: A machine that is so busy that the time is over before anything was asked gets more of it.
PATIENCE = (1, 4, 16)
SCRIPT = f"""#!{sys.executable}
import os, sys
from kubectl_kres.cli import complete
from kubectl_kres.cli.main import entry
complete.LIMIT = 1.5 * float(os.environ.get("PATIENCE", "1"))
sys.exit(entry())
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process nothing is late, however busy the machine is."""
    monkeypatch.setattr(complete, "LIMIT", 60.0)


def ask(*words: str) -> tuple[list[str], int]:
    """The candidates without what they do, and the directive."""
    *lines, directive = complete.answer(words, monotonic()).splitlines()
    return [line.partition("\t")[0] for line in lines], int(directive.removeprefix(":"))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ex"], ["explain"]),
        (["nonsense", ""], []),
        (["help", "sch"], ["schema"]),
        (["help", "schema", ""], []),
        (["schema", "qu"], ["quota"]),
        (["schema", "quota", ""], []),
        (["version", "--cl"], ["--client", "--cluster", "--client-certificate", "--client-key"]),
        (["version", "--client", "--cli"], ["--client-certificate", "--client-key"]),
        (["-n", "shop", "ex"], ["explain"]),
        (["--namesp"], ["--namespace"]),
        (["explain", "-n", "shop", "--namesp"], ["--namespace"]),
        (["explain", "--unknown", ""], []),
        (["explain", "-o", ""], ["text", "wide", "brief", "json", "yaml", "name", "describe"]),
        (["diff", "-o", "w"], []),
        (["explain", "-oj"], ["-ojson"]),
        (["explain", "-o=j"], ["json"]),
        (["explain", "--output=y"], ["yaml"]),
        (["--color", "n"], ["never"]),
        (["quotas", "--by", "p"], ["pod", "priority"]),
        (["explain", "--kube-version", "1.27"], ["1.27"]),
        (["explain", "cron"], ["cronjobs"]),
        (["qos", "resourcequ"], []),
        (["explain", "resourcequ"], ["resourcequotas"]),
        (["explain", "pods,cron"], ["pods,cronjobs"]),
        (["explain", "--demo", "-n", "shop", "deploy/ca"], ["deploy/cart", "deploy/catalog"]),
        (["explain", "--demo", "-n", "shop", "deploy/cart", "deploy/ca"], ["deploy/catalog"]),
        (["explain", "--demo", "-n", "shop", "deploy", "cart", "ca"], ["catalog"]),
        (["explain", "--demo", "-n", "shop", "--", "deploy", "cat"], ["catalog"]),
        (["-n", "shop", "--demo", "diff", "deploy", "cat"], ["catalog"]),
        (["explain", "--demo", "-A", "deploy", "ca"], []),
        (["explain", "--demo", "-l", "a=b", "deploy/ca"], []),
        (["explain", "--offline", "deploy/ca"], []),
        (["explain", "-f", "x.yaml", "deploy/ca"], []),
        (["explain", "--demo", "nonsense/ca"], []),
        (["quota", "--demo", "-n", "shop", ""], ["team"]),
        (["quota", "--demo", "-n", "shop", "team", ""], []),
        (["quota", "--demo", "-n", "shop", "--fit=deploy/cat"], ["deploy/catalog"]),
    ],
)
def test_candidates(words: list[str], found: list[str]):
    assert ask(*words) == (found, 4)


def test_all_commands_and_what_they_do():
    lines = complete.answer([""], monotonic()).splitlines()
    assert lines == [*(f"{name}\t{about}" for name, (_, about) in commands().items()), ":4"]
    assert complete.answer([], monotonic()).splitlines() == lines


@pytest.mark.parametrize(
    ("words", "found", "directive"),
    [
        (["explain", "-f", ""], [], 0),
        (["explain", "--kubeconfig=", ""], ["pods"], 4),
        (["explain", "--kubeconfig="], [], 0),
        (["--cache-dir", ""], [], 16),
        (["explain", "deploy/x", "po"], ["pods/", "podtemplates/"], 6),
        (["quota", "--fit", "cron"], ["cronjobs/"], 6),
    ],
)
def test_what_the_shell_is_told(words: list[str], found: list[str], directive: int):
    named, told = ask(*words)
    assert (named[: len(found)], told) == (found, directive)


@pytest.mark.parametrize("name", commands())
def test_commands_that_take_words_say_which(name: str):
    """Completion must not be forgotten where a command is added."""
    command = Program().get_command(None, name)
    takes_words = any(word in command.usage for word in ("TYPE", "NAME", "COMMAND", "REPORT"))
    assert bool(command.completes) == takes_words or name == "help"


def test_names_of_a_cluster(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(complete_names, "_PAGE", "2")
    api.objects += [*(pod(f"web-{number}") for number in range(5)), pod("db"), pod("web-x", namespace="other")]
    api.objects += [deployment("front"), {"kind": "Namespace", "metadata": {"name": "shop"}}]
    assert ask("explain", "pod/web")[0] == [f"pod/web-{number}" for number in range(5)]
    assert ask("explain", "-n", "other", "pod", "")[0] == ["web-x"]
    assert ask("explain", "-n", "other", "-n", "shop", "pod", "")[0] == [
        "db",
        *(f"web-{number}" for number in range(5)),
        "web-x",
    ]
    assert ask("explain", "pod", "web-1", "web-")[0] == [f"web-{number}" for number in (0, 2, 3, 4)]
    assert ask("qos", "deploy/")[0] == ["deploy/front"]
    assert ask("explain", "-n", "")[0] == ["shop"]
    assert ask("explain", "-ns")[0] == ["-nshop"]
    assert ask("explain", "--namespace=s")[0] == ["shop"]


def test_entries_of_the_kubeconfig(api: Api):
    assert ask("--context", "") == (["lab"], 4)
    assert ask("explain", "--cluster=l") == (["lab"], 4)
    assert ask("explain", "--user", "") == ([], 4)


def test_names_that_a_shell_would_expand_are_left_out(api: Api):
    hostile = ("$(reboot)", "`x`", "a b", "-n", "a\nb", "a\tb", "\x1b[2J", "a;b", "a'b", "", "é")
    api.objects += [pod(name) for name in (*hostile, "web")]
    assert ask("explain", "pod", "") == (["web"], 4)


# ------------------------------------------------------------------------------------------ as a process


@pytest.fixture
def helper(tmp_path: Path) -> Path:
    """Both names of the program in a folder of their own, as krew and ``completion --install`` leave them."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kubectl-kres").write_text(SCRIPT)
    (folder / "kubectl-kres").chmod(0o755)
    (folder / "kubectl_complete-kres").symlink_to("kubectl-kres")
    return folder / "kubectl_complete-kres"


def environ(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def run(*words: object, **options: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(word) for word in words], env=environ(), capture_output=True, text=True, timeout=60, check=False, **options
    )
    return done.returncode, done.stdout, done.stderr


def test_a_silent_server_is_not_waited_for(api: Api, helper: Path, monkeypatch: pytest.MonkeyPatch):
    over = threading.Event()
    api.before = lambda _path: over.wait(60)
    for times in PATIENCE:
        monkeypatch.setenv("PATIENCE", str(times))
        assert run(helper, "explain", "pod/") == (0, ":4\n", "")
        if api.asked:
            break
    assert api.asked
    assert not over.is_set()
    over.set()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", ["not: [a kubeconfig", '{"current-context": "gone"}', None])
def test_trouble_is_silent(helper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None):
    config = tmp_path / "config"
    if text is not None:
        config.write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(config))
    assert run(helper, "explain", "pod/") == (0, ":4\n", "")
    assert run(helper, "explain", "--context", "") == (0, ":4\n", "")


def test_refusals_and_nonsense_are_silent(helper: Path, api: Api):
    api.denied.add("pods")
    assert run(helper, "explain", "pod/") == (0, ":4\n", "")
    api.before = lambda _path: api.objects.clear()
    api.answer = lambda _path, _query: (200, b'{"items": {"a": "list')
    assert run(helper, "explain", "svc/") == (0, ":4\n", "")


ASKING = """#!/bin/sh
echo $$ > {folder}/pid
echo "Password:" >&2
if ( : < /dev/tty ) 2> /dev/null; then echo > {folder}/terminal; fi
if read -r answer; then echo > {folder}/input; fi
exec sleep 1000
"""


def test_a_credential_plugin_cannot_ask_and_does_not_stay(helper: Path, tmp_path: Path, monkeypatch):
    """On a terminal, where somebody would type the answer, and with a plugin that then hangs."""
    plugin = tmp_path / "login"
    plugin.write_text(ASKING.format(folder=tmp_path))
    plugin.chmod(0o755)
    exec_ = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "IfAvailable"}
    config = {
        "clusters": [{"name": "lab", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "me", "user": {"exec": exec_}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
        "current-context": "lab",
    }
    (tmp_path / "config").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    for times in PATIENCE:
        monkeypatch.setenv("PATIENCE", str(times))
        shown = _typed_at(["sh", "-c", f"{helper} explain pod/; :"], b"secret\n" * 3)
        assert b":4" in shown and b"Password" not in shown
        if (tmp_path / "pid").exists():
            break
    assert not (tmp_path / "terminal").exists() and not (tmp_path / "input").exists()
    pid = int((tmp_path / "pid").read_text())
    assert _ended(pid)


def _typed_at(words: list[str], typed: bytes) -> bytes:
    """What a command shows on a terminal of its own where something is typed."""
    child, controller = pty.fork()
    if child == 0:
        os.execve("/bin/sh", words, environ())
    os.write(controller, typed)
    shown = written(controller)
    os.waitpid(child, 0)
    return shown


def _ended(pid: int) -> bool:
    """Whether a process has ended, or ends within some seconds, since it was told to."""
    until = monotonic() + 30
    while monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
    return False


@pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH")
def test_through_kubectl(helper: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", f"{helper.parent}{os.pathsep}{os.environ['PATH']}")
    code, out, _ = run(KUBECTL, "__complete", "kres", "explain", "-n", "x", "cron")
    assert (code, out) == (0, "cronjobs\tCronJob\n:4\n")
    code, out, _ = run(KUBECTL, "__complete", "kres", "explain", "-f", "")
    assert (code, out) == (0, ":0\n")


def test_as_a_word_for_systems_without_links(helper: Path):
    assert run(helper.with_name("kubectl-kres"), "__complete", "vers")[:2] == (
        0,
        "version\tPrint the versions of this program and of the server\n:4\n",
    )


def test_what_completing_loads():
    """A word of the table costs no more than the help."""
    program = (
        "import sys; from time import monotonic; import kubectl_kres.cli.main; "
        "from kubectl_kres.cli import complete; "
        "complete.answer(['ex'], monotonic()); print(*sys.modules)"
    )
    loaded = set(run(sys.executable, "-c", program)[1].split())
    assert "kubectl_kres.cli.complete" in loaded
    assert not loaded & {"msgspec", "yaml", "pydantic", "rich", "textual", "urllib3", "json", "ssl"}
