"""Flags are read as kubectl reads them, before the command and behind it."""

from __future__ import annotations

import shlex

import pytest
from cli.apiserver import LIMITS, pod
from cli.running import Kres

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.commands import explain
from kubectl_kres.cli.commands.schema import ANSWERS
from kubectl_kres.cli.program import Program


def parsed(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Options, tuple[str, ...]]:
    """What ``explain`` gets to see."""
    seen: list[tuple[Options, tuple[str, ...]]] = []

    def run(options: Options, words: tuple[str, ...]) -> int:
        seen.append((options, words))
        return 0

    monkeypatch.setattr(explain.command, "run", run)
    program = Program()
    with program.make_context("kubectl kres", shlex.split(text)) as ctx:
        assert program.invoke(ctx) == 0
    return seen[0]


@pytest.mark.parametrize(
    ("text", "changed", "words"),
    [
        ("explain", {}, ()),
        ("explain pod/web", {}, ("pod/web",)),
        ("explain pod web -n a", {"namespaces": ("a",)}, ("pod", "web")),
        ("-n a explain pod web", {"namespaces": ("a",)}, ("pod", "web")),
        ("-n a explain pod web -n b", {"namespaces": ("b",)}, ("pod", "web")),
        ("-n a -n b explain pod", {"namespaces": ("a", "b")}, ("pod",)),
        ("explain -n a pod -n b web", {"namespaces": ("a", "b")}, ("pod", "web")),
        ("explain -na pod", {"namespaces": ("a",)}, ("pod",)),
        ("explain -n=a pod", {"namespaces": ("a",)}, ("pod",)),
        ("explain --namespace=a pod", {"namespaces": ("a",)}, ("pod",)),
        ("explain --namespace= pod", {}, ("pod",)),
        ("explain -n '' -n a pod", {"namespaces": ("a",)}, ("pod",)),
        ("explain --namespace true pod", {"namespaces": ("true",)}, ("pod",)),
        ("explain -A pod", {"all_namespaces": True}, ("pod",)),
        ("explain -A=true pod", {"all_namespaces": True}, ("pod",)),
        ("explain -A --all-namespaces=false pod", {}, ("pod",)),
        ("-A explain -A=F pod", {}, ("pod",)),
        ("--steps explain pod", {"steps": True}, ("pod",)),
        ("explain -ARn x", {"all_namespaces": True, "recursive": True, "namespaces": ("x",)}, ()),
        ("explain -o json -o yaml", {"output": "yaml"}, ()),
        ("-o json explain -oyaml", {"output": "yaml"}, ()),
        ("explain -f - -f=a -fb", {"filenames": ("-", "a", "b")}, ()),
        ("explain -f --offline", {"filenames": ("--offline",)}, ()),
        ("explain -v", {"verbosity": 1}, ()),
        ("explain -v pod/web", {"verbosity": 1}, ("pod/web",)),
        ("explain -v 6 pod/web", {"verbosity": 6}, ("pod/web",)),
        ("explain -v=6 --v 7", {"verbosity": 7}, ()),
        ("explain -v9 --v", {"verbosity": 1}, ()),
        ("-v explain pod", {"verbosity": 1}, ("pod",)),
        ("explain --chunk-size 0", {"chunk_size": 0}, ()),
        ("explain --request-timeout=3s --cache-dir /x", {"request_timeout": "3s", "cache_dir": "/x"}, ()),
        ("explain -- -n a", {}, ("-n", "a")),
        ("explain -s https://h --token t", {"server": "https://h", "token": "t"}, ()),
        ("-shttps://h explain --cluster c --user u", {"server": "https://h", "cluster": "c", "user": "u"}, ()),
        ("explain --as eve --as-uid 7", {"impersonate": "eve", "impersonate_uid": "7"}, ()),
        ("explain --as-group a,b --as-group c", {"impersonate_groups": ("a,b", "c")}, ()),
        ("explain --as-user-extra k=v --as-user-extra k=w", {"impersonate_extra": ("k=v", "k=w")}, ()),
        (
            "explain --insecure-skip-tls-verify --disable-compression=true",
            {"insecure": True, "disable_compression": True},
            (),
        ),
        ("explain --insecure-skip-tls-verify=false", {}, ()),
        ("explain --client-certificate c --client-key k", {"client_certificate": "c", "client_key": "k"}, ()),
        ("explain --certificate-authority c --kuberc k", {"certificate_authority": "c", "kuberc": "k"}, ()),
        ("explain --tls-server-name=h", {"tls_server_name": "h"}, ()),
        ("explain --for app.limits.memory -c app", {"question": "app.limits.memory", "container": "app"}, ()),
        ("explain --feature-gates A=true,B=false", {"feature_gates": ("A=true,B=false",)}, ()),
    ],
)
def test_what_a_command_sees(text: str, changed: dict[str, object], words: tuple[str, ...], monkeypatch):
    assert parsed(text, monkeypatch) == (Options(**changed), words)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("explain --zz", "unknown flag: --zz"),
        ("--zz explain", "unknown flag: --zz"),
        ("explain --ofline", "unknown flag: --ofline, did you mean --offline?"),
        ("explain --names a", "unknown flag: --names, did you mean --namespace?"),
        ("explain -z", "unknown shorthand flag: 'z' in -z"),
        ("explain -Az", "unknown shorthand flag: 'z' in -Az"),
        ("explain -n", "flag needs an argument: 'n' in -n"),
        ("explain --namespace", "flag needs an argument: --namespace"),
        ("explain -A=maybe", 'invalid argument "maybe" for "-A, --all-namespaces" flag: true or false is expected'),
        ("explain --chunk-size x", 'invalid argument "x" for "--chunk-size" flag: a whole number is expected'),
        ("explain --chunk-size=-1", 'invalid argument "-1" for "--chunk-size" flag: a whole number is expected'),
        ("explain -v=10", 'invalid argument "10" for "-v, --v" flag: a whole number from 0 to 9 is expected'),
        ("explain --color=red", 'invalid argument "red" for "--color" flag: one of auto, always, never is expected'),
        ("version --steps", "unknown flag: --steps"),
        ("--steps version", "unknown flag: --steps"),
        ("explain --password=secret", "--password is not supported: API servers have not taken passwords since"),
        ("--username eve explain", "--username is not supported: API servers have not taken passwords since"),
        ("explain --tokn=secret", "unknown flag: --tokn, did you mean --token?"),
        ("explain -k dir", '-k is not supported; pipe "kubectl kustomize DIR" into -f -'),
        ("diff --kustomize=dir", '--kustomize is not supported; pipe "kubectl kustomize DIR" into -f -'),
    ],
)
def test_flags_that_are_refused(kres: Kres, text: str, message: str):
    code, out, err = kres(text)
    lines = err.splitlines()
    assert (code, out, len(lines)) == (2, "", 2)
    assert lines[0].startswith(f"error: {message}")
    assert lines[1].startswith("See 'kubectl kres") and "secret" not in err


TIMEOUT = (
    "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding "
    "time unit (e.g. 1s | 2m | 3h)"
)
ALL = "brief,custom-columns,describe,json,jsonpath,name,text,wide,yaml"


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("explain", ALL),
        ("diff", "brief,custom-columns,json,jsonpath,name,text,yaml"),
        ("version --client", "custom-columns,json,jsonpath,text,yaml"),
    ],
)
@pytest.mark.parametrize("output", ["table", "go-template={{.items}}", "JSON", ""])
def test_formats_that_a_command_lacks(kres: Kres, command: str, allowed: str, output: str):
    code, out, err = kres(command, "-o", output)
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == (
        f'error: unable to match a printer suitable for the output format "{output}", allowed formats are: {allowed}'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("expl", 'unknown command "expl" for "kubectl kres"\n\nDid you mean this?\n\texplain\n'),
        ("-n a versoin", 'unknown command "versoin" for "kubectl kres"\n\nDid you mean this?\n\tversion\n'),
        ("help dif", 'unknown command "dif" for "kubectl kres"\n\nDid you mean this?\n\tdiff\n'),
        ("zzz", 'unknown command "zzz" for "kubectl kres"'),
    ],
)
def test_unknown_commands(kres: Kres, text: str, message: str):
    assert kres(text) == (2, "", f"error: {message}\nSee 'kubectl kres --help' for usage.\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("explain --offline", "--offline needs the files to read, given with -f"),
        ("explain -R", "-R goes with -f DIR"),
        ("explain pod/a --demo --snapshot x", "--demo and --snapshot exclude each other"),
        ("explain pod/a --demo --offline -f x", "--offline and --demo exclude each other"),
        ("version x", "version takes no arguments, not x"),
        ("schema", f"schema takes one command of {', '.join(ANSWERS)}"),
        ("schema snapshot", f'"snapshot" has no schema; those that have one: {", ".join(ANSWERS)}'),
        ("snapshot", "--out FILE is needed: where to write the snapshot"),
        ("snapshot pods --out x", "snapshot takes no arguments, not pods"),
        (
            "explain pod/a --request-timeout=soon",
            TIMEOUT,
        ),
    ],
)
def test_flags_and_words_that_do_not_go_together(kres: Kres, text: str, message: str):
    code, out, err = kres(text)
    assert (code, out, err.splitlines()[0]) == (2, "", f"error: {message}")


def test_flags_in_front_of_the_command_have_their_effect(kres: Kres, file):
    given = file(LIMITS, pod("web"))
    behind = kres(f"explain -f {given} --offline -o json")
    assert behind == kres(f"-o json --offline -f {given} explain")
    assert (behind.code, behind.err) == (0, "")
