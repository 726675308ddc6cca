"""``fleet --clusterprofiles``: the clusters that a hub's inventory names."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cli.apiserver import Api, Said
from fleet.conftest import Fleet

from kubectl_kres.cluster import exec_plugin
from kubectl_kres.cluster.credentials import cluster_info
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, load
from kubectl_kres.cluster.kubeconfig.files import ClusterEntry, Context, MergedKubeconfig
from kubectl_kres.errors import UsageError
from kubectl_kres.fleet.inventory import ClusterProfile, Provider, read_providers, take_inventory

NEW, OLD = "v1alpha2", "v1alpha1"


def profile(
    name: str, server: str, provider: str = "secretreader", namespace: str = "fleet", **more: Any
) -> dict[str, Any]:
    ways = [{"name": provider, "cluster": {"server": server, **more}}] if server else []
    status = {"accessProviders": ways, "conditions": [{"type": "ControlPlaneHealthy", "status": "True"}]}
    spec = {"clusterManager": {"name": "manager"}}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec, "status": status}


def serve(hub: Api, *profiles: dict[str, Any], version: str = NEW) -> None:
    """The hub answers for the version alone."""
    hub.faults[version] = Said(
        200, {"kind": "ClusterProfileList", "apiVersion": f"multicluster.x-k8s.io/{version}", "items": [*profiles]}
    )


@pytest.mark.parametrize("version", [NEW, OLD])
def test_the_users_own_context_for_the_server_of_a_profile(
    kres: Fleet, servers: Callable[..., list[Api]], version: str
):
    hub, one, two = servers("hub", "one", "two")
    serve(
        hub, profile("east", f"{one.url}/"), profile("west", two.url), profile("away", "https://away"), version=version
    )
    code, out, err = kres("fleet quota --clusterprofiles * --context hub -o json")
    assert code == 4, err
    found = {item["cluster"]: item for item in json.loads(out)["items"]}
    assert {name: item["state"] for name, item in found.items()} == {
        "away": "failed",
        "east": "answered",
        "west": "answered",
    }
    assert found["away"]["message"] == "no context of the kubeconfig is for https://away"
    assert found["east"]["figures"]["quotas"] == 1 and one.asked and two.asked


def test_the_plugin_of_a_provider_is_told_of_the_cluster_and_what_the_profile_adds(tmp_path: Path):
    program, told, file = tmp_path / "plugin", tmp_path / "told", tmp_path / "providers.json"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$*|$REGION|$KUBERNETES_EXEC_INFO" >> {told}\n'
        'echo \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}\'\n'
    )
    program.chmod(0o755)
    execution = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(program), "provideClusterInfo": True}
    provider = {"name": "secretreader", "execConfig": {**execution, "args": ["--own"]}}
    policies = {"profileSourcedCLIArgsPolicy": "Append", "profileSourcedEnvVarsPolicy": "AppendIfNotExists"}
    file.write_text(json.dumps({"providers": [{**provider, **policies}]}))
    extensions = [
        {"name": "client.authentication.k8s.io/exec", "extension": {"clusterName": "east-1"}},
        {"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-args", "extension": ["--cluster=east"]},
        {"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs", "extension": {"REGION": "eu"}},
    ]
    raw = _profiles(profile("east", "https://east:6443", extensions=extensions))
    kubeconfig = tmp_path / "kubeconfig"
    found = take_inventory(raw, ["*"], read_providers(str(file)), MergedKubeconfig(), str(kubeconfig))
    kubeconfig.write_bytes(msgspec.json.encode(found.kubeconfig))
    target = load(ConnectOptions(kubeconfig=str(kubeconfig), context="east"), {})
    assert (target.server, target.warnings) == ("https://east:6443", ())
    assert target.user.exec is not None
    answer = exec_plugin.run(target.user.exec, "east", cluster_info(target), target.policy)
    assert answer.token == "t"
    arguments, region, information = told.read_text().strip().split("|")
    assert (arguments, region) == ("--own --cluster=east", "eu")
    assert json.loads(information)["spec"]["cluster"]["config"] == {"clusterName": "east-1"}


def test_the_hub_that_has_no_inventory_says_so(kres: Fleet, servers: Callable[..., list[Api]]):
    servers("hub")
    code, out, err = kres("fleet quota --clusterprofiles * --context hub")
    assert (code, out) == (3, "")
    assert "the hub has no ClusterProfiles (clusterprofiles.multicluster.x-k8s.io)" in err


def test_a_hub_that_may_not_be_read_ends_the_run(kres: Fleet, servers: Callable[..., list[Api]]):
    (hub,) = servers("hub")
    message = 'clusterprofiles is forbidden: User "eve" cannot list resource "clusterprofiles"'
    hub.faults[NEW] = Said(403, {"kind": "Status", "reason": "Forbidden", "message": message, "code": 403})
    code, out, err = kres("fleet quota --clusterprofiles * --context hub")
    assert (code, out) == (3, "")
    assert message in err


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("--clusterprofiles * --contexts *", "--contexts, --snapshots and --clusterprofiles: exclude each other"),
        ("", "--contexts, --snapshots and --clusterprofiles: one of them is needed"),
        ("--contexts * --context hub", "--context names one server or user"),
        ("--contexts * --clusterprofile-provider-file a", "goes with --clusterprofiles"),
        ("--clusterprofiles * --clusterprofile-provider-file none.json", "open none.json: no such file or directory"),
        ("--clusterprofiles * --clusterprofile-provider-file bad.json", "bad.json: "),
        (
            "--clusterprofiles none* --context hub",
            "none*: no ClusterProfile matches; the hub has east",
        ),
    ],
)
def test_flags_that_do_not_go_together(kres: Fleet, servers: Callable[..., list[Api]], line: str, text: str):
    (hub,) = servers("hub")
    serve(hub, profile("east", "https://a"))
    Path("bad.json").write_text("{")
    code, out, err = kres(f"fleet quota {line}")
    assert (code, out) == (2, "")
    assert text in err


def _profiles(*raw: dict[str, Any]) -> list[ClusterProfile]:
    return [msgspec.convert(one, ClusterProfile) for one in raw]


def _provider(**more: Any) -> Provider:
    execution = {
        "command": "plugin",
        "apiVersion": "client.authentication.k8s.io/v1",
        "env": [{"name": "A", "value": "own"}],
    }
    return msgspec.convert({"name": "secretreader", "execConfig": execution, **more}, Provider)


def test_profiles_of_one_name_are_called_with_their_namespace():
    raw = _profiles(
        profile("a", "https://one"), profile("a", "https://two", namespace="other"), profile("b", "https://b")
    )
    found = take_inventory(raw, ["*"], [_provider()], MergedKubeconfig(), "file")
    assert [cluster.name for cluster in found.clusters] == ["b", "fleet/a", "other/a"]
    found = take_inventory(raw, ["other/*"], [_provider()], MergedKubeconfig(), "file")
    assert [cluster.name for cluster in found.clusters] == ["other/a"]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [("", "own"), ("Ignore", "own"), ("AppendIfNotExists", "own"), ("Replace", "theirs")],
)
def test_what_a_profile_may_change_is_the_files_to_say(policy: str, expected: str):
    extensions = [
        {"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs", "extension": {"A": "theirs"}},
        {"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-args", "extension": ["--evil"]},
    ]
    [raw] = _profiles(profile("a", "https://a", extensions=extensions))
    found = take_inventory([raw], ["*"], [_provider(profileSourcedEnvVarsPolicy=policy)], MergedKubeconfig(), "file")
    [user] = found.kubeconfig.users or ()
    assert user.user is not None and user.user.exec is not None
    assert user.user.exec.args is None
    assert [variable.value for variable in user.user.exec.env or ()] == [expected]


def test_what_cannot_be_added_is_the_reason_of_that_cluster_alone():
    bad = [{"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-args", "extension": {"no": "list"}}]
    raw = _profiles(profile("a", "https://a", extensions=bad), profile("b", "https://b"), profile("c", ""))
    provider = _provider(profileSourcedCLIArgsPolicy="Append")
    found = take_inventory(raw, ["*"], [provider], MergedKubeconfig(), "file")
    assert [cluster.name for cluster in found.clusters] == ["b"]
    assert found.unreached["c"] == "its ClusterProfile has no access provider"
    assert found.unreached["a"].startswith("what its ClusterProfile adds to secretreader cannot be used: ")


def test_a_file_that_the_hub_names_is_not_read_and_its_authority_is_kept():
    data = base64.b64encode(b"pem").decode()
    more = {"certificate-authority": "/etc/shadow", "certificate-authority-data": data, "tls-server-name": "a"}
    [raw] = _profiles(profile("a", "https://a", **more))
    found = take_inventory([raw], ["*"], [_provider()], MergedKubeconfig(), "file")
    [cluster] = found.kubeconfig.clusters or ()
    assert cluster.cluster == ClusterEntry("https://a", certificate_authority_data=data, tls_server_name="a")


def test_providers_come_before_the_users_own_contexts_and_old_names_are_read():
    [raw] = _profiles(profile("a", "https://a", provider="other"))
    old = msgspec.convert(
        {
            "metadata": {"name": "o"},
            "status": {"credentialProviders": [{"name": "secretreader", "cluster": {"server": "https://o"}}]},
        },
        ClusterProfile,
    )
    config = MergedKubeconfig(clusters={"c": ClusterEntry("HTTPS://A/")}, contexts={"mine": Context("c", "u")})
    found = take_inventory([raw, old], ["*"], [_provider()], config, "file")
    assert {cluster.name: (cluster.context, cluster.kubeconfig) for cluster in found.clusters} == {
        "a": ("mine", ""),
        "o": ("o", "file"),
    }


def test_no_profile_at_all_names_none():
    with pytest.raises(UsageError, match="the hub has none"):
        take_inventory([], ["*"], [], MergedKubeconfig(), "file")
