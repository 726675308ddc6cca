"""How errors are worded on stderr and which exit code they become."""

from __future__ import annotations

import errno
import sys

import pytest
from cli.apiserver import LIMITS, kubeconfig, pod
from cli.running import Kres
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres import errors
from kubectl_kres.cli.commands import explain, version
from kubectl_kres.cli.output.exit_codes import lines, may_i, run_guarded, worst_code
from kubectl_kres.errors import KresError


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (errors.UsageError("no", hint="do this"), ["error: no", "do this"]),
        (errors.InputError("no", file="a.yaml", line=3, column=1), ["error: a.yaml:3:1: no"]),
        (
            errors.InputErrors([errors.InputError("no", file="a"), errors.InputError("nor", file="b")]),
            ["error: a: no", "error: b: nor"],
        ),
        (errors.SnapshotError("x.kres: cut off"), ["error: x.kres: cut off"]),
        (errors.ConfigError('context "zz" does not exist'), ['error: context "zz" does not exist']),
        (
            errors.ConfigError("Error in configuration: context was not found for specified context: zz"),
            ["Error in configuration: context was not found for specified context: zz"],
        ),
        (
            errors.Unreachable("The connection to the server a:1 was refused - did you …?", refused=True),
            ["The connection to the server a:1 was refused - did you …?"],
        ),
        (errors.Unreachable("Unable to connect to the server: EOF"), ["Unable to connect to the server: EOF"]),
        (errors.TimedOut("Unable to connect to the server: late"), ["Unable to connect to the server: late"]),
        (
            errors.Unauthenticated("the server has asked for the client to provide credentials", code=401),
            ["error: You must be logged in to the server (the server has asked for the client to provide credentials)"],
        ),
        (
            errors.NotFound('pods "x" not found', code=404, reason="NotFound"),
            ['Error from server (NotFound): pods "x" not found'],
        ),
        (errors.StatusError("broken", code=500, reason="InternalError"), ["Error from server (InternalError): broken"]),
        (errors.StatusError("the server answered 502", code=502), ["Error from server: the server answered 502"]),
        (
            errors.Forbidden("no", code=403, reason="Forbidden"),
            ["Error from server (Forbidden): no", "kres cannot answer without it."],
        ),
    ],
)
def test_words(error: KresError, told: list[str], capsys):
    assert list(lines(error, "")) == told

    def fail() -> int:
        raise error

    assert run_guarded(fail) == error.exit_code > 1
    assert capsys.readouterr() == ("", "".join(f"{line}\n" for line in told))


@pytest.mark.parametrize(
    ("message", "command"),
    [
        (
            'pods "w" is forbidden: User "e" cannot get resource "pods" in API group "" in the namespace "a"',
            "get pods -n a",
        ),
        (
            'User "e" cannot list resource "deployments" in API group "apps" in the namespace "a"',
            "list deployments.apps -n a",
        ),
        ('User "e" cannot list resource "pods" in API group "" at the cluster scope', "list pods -A"),
        ('User "e" cannot list resource "x" in API group "" in the namespace "$(reboot)"', "list x"),
        ('User "e" cannot list resource "$(reboot)" in API group ""', ""),
        ("admission webhook said no", ""),
    ],
)
def test_how_to_check_a_refusal(message: str, command: str):
    assert may_i(message, "") == (f"Check with: kubectl auth can-i {command}" if command else "")


@given(st.lists(st.sampled_from([0, 1, 2, 3, 4, 70])))
def test_the_code_of_several_objects(codes: list[int]):
    order = [70, 2, 3, 4, 1, 0]
    assert worst_code(codes) == min([*codes, 0], key=order.index)


def test_a_bug_is_told_as_one(kres: Kres, file, monkeypatch):
    def broken(*_: object) -> None:
        raise ValueError("boom\x1b[2J")

    monkeypatch.setattr(explain, "explain", broken)
    code, out, err = kres(f"explain --offline -f {file(pod('web'))}")
    assert (code, out) == (70, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert "ValueError: boom\ufffd[2J\n" in err
    assert "kubectl-kres 0.1.0, Python 3." in err
    assert err.endswith("Please report it, with all of the above, on the project's issue page.\n")


def test_ctrl_c(kres: Kres, monkeypatch):
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(version.command, "run", interrupted)
    assert kres("version") == (130, "", "")


@pytest.mark.parametrize("text", ["explain pod/a -v=9", "explain pod/a --v 9", "-v9 explain pod/a"])
def test_tracebacks_on_request(kres: Kres, text: str):
    code, out, err = kres(text)
    assert (code, out) == (3, "")
    assert err.startswith("error: no kubeconfig: ") and "Traceback (most recent call last):" in err
    assert "Traceback" not in kres("explain pod/a -v=8").err


def test_a_full_disk_behind_stdout(kres: Kres, monkeypatch):
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(version.command, "run", full)
    assert kres("version") == (3, "", "error: writing the output: no space left on device\n")


def test_without_stderr_nothing_is_said_elsewhere(kres: Kres, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert kres("explain --zz") == (2, "", "")


SENTENCES = {
    "explain pod/a": "error: no kubeconfig: ",
    "explain pod/a --kubeconfig nope": "error: stat nope: no such file or directory\n",
    "explain pod/a --snapshot nope": "error: nope: ",
    "explain -f nope --offline": 'error: nope: the path "nope" does not exist\n',
    "diff -f nope": "error: nope",
}


@pytest.mark.parametrize(("text", "sentence"), SENTENCES.items())
def test_nothing_to_read_from(kres: Kres, text: str, sentence: str):
    code, out, err = kres(text)
    assert (code, out) == (2 if "nope" in text and "kubeconfig" not in text else 3, "")
    assert err.startswith(sentence.split("nope", maxsplit=1)[0]) and "Traceback" not in err


def test_a_context_that_does_not_exist(kres: Kres, api):
    assert kres("explain pod/a --context zz") == (3, "", 'error: context "zz" does not exist\n')


def test_a_server_that_is_not_there(kres: Kres, tmp_path, monkeypatch, file):
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, "http://127.0.0.1:1"))
    refused = "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n"
    assert kres("explain pod/a") == (3, "", refused)
    assert kres("snapshot --out x") == (3, "", refused)
    assert not (tmp_path / "x").exists()
    hint = "--offline explains the files by themselves\n"
    given = file(LIMITS, pod("web"))
    assert kres(f"explain -f {given}") == kres(f"diff -f {given}") == (3, "", refused + hint)
    assert kres(f"explain -f {given} --offline").code == 0


def test_no_kubeconfig_but_files(kres: Kres, file):
    code, _, err = kres(f"explain -f {file(pod('web'))}")
    assert (code, err.splitlines()[-1]) == (3, "--offline explains the files by themselves")


def test_hostile_words_of_a_server(kres: Kres, api, monkeypatch):
    message = "no\x1b]0;x\x07 pods\u202e\n" + "y" * 3000
    monkeypatch.setattr(api, "answer", lambda *_: (500, {"kind": "Status", "message": message, "reason": "x\x1b"}))
    code, out, err = kres("explain pods")
    assert (code, out) == (3, "")
    assert err.isprintable() or not set(err) & set("\x1b\x07\u202e")
    assert len(err) < 2500 and err.startswith("Error from server (x\ufffd): no")
