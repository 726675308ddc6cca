"""The archive as a user has it: installed by krew, called by kubectl, on a machine without Python."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli.apiserver import Api, deployment, pod
from dist.installed import Installed, Secured

from kubectl_kres import __version__
from kubectl_kres.cli.program import commands
from release import names

MANIFEST = json.dumps(pod("web", "64Mi"))


def test_version_and_help(installed: Installed):
    code, out, err = installed.kres("version", "--client")
    assert (code, err) == (0, "")
    assert out.startswith(f"Client Version: v{__version__}\n")
    code, out, err = installed.kres("--help")
    assert (code, err) == (0, "")
    assert "Usage:\n  kubectl kres COMMAND" in out
    assert installed.kres("versoin")[0] == 2


@pytest.mark.parametrize("name", commands())
def test_help_of_each_command(installed: Installed, name: str):
    """What imports something that the archive lacks fails here."""
    code, out, err = installed.kres(name, "--help")
    assert (code, err) == (0, "")
    assert "Usage:" in out


def test_without_a_cluster(installed: Installed):
    code, out, _ = installed.kres("explain", "--demo", "deploy/checkout", "-n", "checkout")
    assert (code, out.partition(":")[0]) == (0, "refused")
    assert installed.kres("diff", "--demo", "deploy/recommendations", "-n", "shop")[0] == 1
    (installed.folder / "pod.json").write_text(MANIFEST)
    code, out, err = installed.kres("explain", "-f", "pod.json", "--offline", "-o", "yaml")
    assert (code, err) == (0, "")
    assert out.startswith("apiVersion: kres/")
    assert installed.kres("schema", "explain")[0] == 0


def test_settings(installed: Installed):
    """What reads them is loaded for nothing else, half of it by name."""
    folder = installed.folder / "config" / "kubectl-kres"
    folder.mkdir(parents=True)
    words, place = ("quota", "--demo", "-n", "shop"), str(folder.parent)
    (folder / "config.toml").write_text('[output]\ncolor = "always"\n')
    code, out, err = installed.kres(*words, XDG_CONFIG_HOME=place)
    assert (code, err) == (0, "")
    assert "\x1b[" in out
    (folder / "config.toml").write_text('[output]\ncolour = "alway"\n')
    code, out, err = installed.kres(*words, XDG_CONFIG_HOME=place)
    assert (code, out) == (2, "")
    assert err.endswith(':2: unknown key "output.colour", the nearest is output.color\n')


def test_nothing_is_written(installed: Installed):
    before = sorted(installed.store.rglob("*"))
    for path in (installed.store, *before):
        path.chmod(0o555)
    assert installed.kres("explain", "--demo", "deployments", "-A")[0] == 0
    assert sorted(installed.store.rglob("*")) == before
    for path in (installed.store, *before):
        if path.is_dir():
            path.chmod(0o755)


def test_live_and_from_a_snapshot(installed: Installed, api: Api):
    api.objects += [pod("big", "2Gi"), deployment("web")]
    config = installed.kubeconfig(api.url)
    code, out, err = installed.kres("explain", "deploy/web", KUBECONFIG=config)
    assert (code, err) == (0, "")
    assert "LimitRange/limits" in out
    assert installed.kres("snapshot", "-n", "shop", "--out", "shop.kres.gz", KUBECONFIG=config)[0] == 0
    code, again, err = installed.kres("explain", "deploy/web", "-n", "shop", "--snapshot", "shop.kres.gz")
    assert (code, err, again) == (0, "", out)
    assert installed.kres("diff", "deploy/web", KUBECONFIG=config)[0] == 1


PLUGIN = """#!/bin/sh
/usr/bin/env > {folder}/given
echo '{{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {{"token": "right"}}}}'
"""


def test_tls_and_a_credential_plugin(installed: Installed, secured: Secured):
    secured.objects.append(deployment("web"))
    plugin = installed.folder / "login"
    plugin.write_text(PLUGIN.format(folder=installed.folder))
    plugin.chmod(0o755)
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(plugin),
            "interactiveMode": "Never",
        }
    }
    config = installed.kubeconfig(secured.url, {"certificate-authority": str(secured.authority)}, user)
    code, out, err = installed.kres("explain", "deploy/web", KUBECONFIG=config)
    assert (code, err) == (0, "")
    assert "LimitRange/limits" in out
    given = (installed.folder / "given").read_text().splitlines()
    assert [line for line in given if str(installed.store) in line or line.startswith("_PYI")] == []


def test_libraries_that_the_user_sets_reach_the_plugin_only(installed: Installed, secured: Secured):
    """The loader puts its own folder first, and must put the user's back for others."""
    plugin = installed.folder / "login"
    plugin.write_text(PLUGIN.format(folder=installed.folder))
    plugin.chmod(0o755)
    user = {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
    }
    config = installed.kubeconfig(secured.url, {"certificate-authority": str(secured.authority)}, user)
    assert installed.kres("explain", "pods", KUBECONFIG=config, LD_LIBRARY_PATH="/proc/none")[0] == 0
    assert "LD_LIBRARY_PATH=/proc/none" in (installed.folder / "given").read_text().splitlines()


def test_a_certificate_that_nobody_vouches_for(installed: Installed, secured: Secured):
    config = installed.kubeconfig(secured.url, user={"token": "right"})
    code, out, err = installed.kres("explain", "pods", KUBECONFIG=config)
    assert (code, out) == (3, "")
    assert err.startswith("Unable to connect to the server: ")
    assert "Traceback" not in err


def test_completion(installed: Installed, api: Api):
    api.objects.append(pod("web-1"))
    config = installed.kubeconfig(api.url)
    assert installed.kubectl("__complete", "kres", "vers").stdout == ":0\n"
    code, out, err = installed.kres("completion", "--install")
    link = installed.path / "kubectl_complete-kres"
    assert (code, out.splitlines()[0], err) == (0, f"Installed: {link}", "")
    assert str(link.readlink()) == "kubectl-kres"
    assert installed.kubectl("__complete", "kres", "vers").stdout.splitlines()[-1] == ":4"
    for _ in range(5):  # a machine that has no time for us is answered with nothing
        out = installed.kubectl("__complete", "kres", "explain", "pod/", KUBECONFIG=config).stdout
        if out != ":4\n":
            break
    assert out == "pod/web-1\n:4\n"
    assert installed.kres("completion", "--uninstall")[0] == 0
    assert not os.path.lexists(link)


def test_terminal_interface(installed: Installed):
    shown, code = installed.screen("tui", "--demo", until="checkout", keys=b"q")
    assert "checkout" in shown
    assert (code, "Traceback" in shown) == (0, False)


def test_both_scripts_of_the_wheel(wheel: Path):
    folder = names.BUILD / "venv" / "bin"
    if not folder.is_dir():
        pytest.skip("the environment that the wheel was installed into is gone")
    assert os.access(folder / "kubectl-kres", os.X_OK) and os.access(folder / "kubectl_complete-kres", os.X_OK)
