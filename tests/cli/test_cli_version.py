"""The version command: the client in any case, the server if it can be asked."""

from __future__ import annotations

import json
import platform

import pytest
import yaml
from cli.apiserver import kubeconfig
from cli.running import Kres

from kubectl_kres import __version__

CLIENT = f"Client Version: v{__version__}\nPython: {platform.python_version()}\nRules: Kubernetes 1.27 to 1.37\n"


def test_the_client_alone_asks_nobody(kres: Kres):
    assert kres("version --client") == (0, CLIENT, "")
    found = json.loads(kres("version --client -o json").out)
    assert found == yaml.safe_load(kres("version --client -o yaml").out)
    assert found.keys() == {"clientVersion"}
    assert found["clientVersion"]["gitVersion"] == f"v{__version__}"
    assert found["clientVersion"]["rules"] == {"oldest": "1.27", "newest": "1.37"}


@pytest.mark.parametrize(
    ("answer", "shown", "rules", "assumed"),
    [
        ({"gitVersion": "v1.33.2"}, "v1.33.2", "1.33", ""),
        (
            {"gitVersion": "v1.20.1"},
            "v1.20.1",
            "1.27",
            "1.20 is older than the rules known here: those of 1.27 are used",
        ),
        (
            {"gitVersion": "v1.99.0"},
            "v1.99.0",
            "1.37",
            "1.99 is newer than the rules known here: those of 1.37 are used",
        ),
        ({"gitVersion": "v1.33.0\x1b[2J"}, "v1.33.0\ufffd[2J", "1.33", ""),
        ({}, "unknown", "1.37", "the server's version is not known: the rules of Kubernetes 1.37 are used"),
    ],
)
def test_the_server(kres: Kres, api, answer: dict[str, str], shown: str, rules: str, assumed: str):
    api.version = answer
    code, out, err = kres("version")
    lines = out.removeprefix(CLIENT).splitlines()
    assert (code, err, lines[0]) == (0, "", f"Server Version: {shown} (context lab)")
    assert lines[1:3] == [f"Server: {api.url}", "User: none in the kubeconfig"]
    assert (len(lines) == 4 and assumed in lines[3]) if assumed else len(lines) == 3
    server = json.loads(kres("version -o json").out)["serverVersion"]
    assert server == {
        "gitVersion": answer.get("gitVersion", ""),
        "context": "lab",
        "server": api.url,
        "user": "",
        "impersonate": "",
        "username": "",
        "groups": [],
        "rules": rules,
    }


def test_who_we_are(kres: Kres, api):
    api.person = {"username": "al\x1bice", "groups": ["dev", "ops"]}
    known = "al\ufffdice of dev, ops"
    out = kres("version").out.splitlines()
    assert out[-1] == f"User: {known} (none in the kubeconfig)"
    code, out, err = kres("version --as eve -v=6")
    assert (code, out.splitlines()[-1]) == (0, f"User: {known} (none in the kubeconfig, acting as eve)")
    lines = [line for line in err.splitlines() if " in " not in line or "User" in line]
    assert lines == [
        f"Server: {api.url}",
        "Context: lab",
        "User: none in the kubeconfig, acting as eve",
    ]
    assert err.count("selfsubjectreviews") == 1
    found = json.loads(kres("version -o json --as eve").out)["serverVersion"]
    assert (found["username"], found["groups"], found["impersonate"]) == ("al\x1bice", ["dev", "ops"], "eve")


def test_what_is_doubtful_is_said_in_one_line_each(kres: Kres, api):
    code, _, err = kres("version --user lab")
    assert (code, err) == (3, 'error: auth info "lab" does not exist\n')
    code, _, err = kres("version --token s3cret")
    assert (code, err) == (0, f"Warning: the credentials of the user are not sent: {api.url} is not encrypted\n")
    code, _, err = kres("version -s https://127.0.0.1:1 --token s3cret --insecure-skip-tls-verify")
    assert (code, err.splitlines()[0]) == (
        3,
        "Warning: the certificate of https://127.0.0.1:1 is not verified (insecure-skip-tls-verify)",
    )
    assert len(err.splitlines()) == 2


def test_a_server_that_is_not_there(kres: Kres, tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, "http://127.0.0.1:1"))
    refused = "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n"
    assert kres("version") == (3, CLIENT, refused)
    code, out, err = kres("version -o json")
    assert (code, err, json.loads(out).keys()) == (3, refused, {"clientVersion"})


def test_no_kubeconfig(kres: Kres):
    code, out, err = kres("version")
    assert (code, out) == (3, CLIENT) and err.startswith("error: no kubeconfig: ")
