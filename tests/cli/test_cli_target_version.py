"""The server that flags describe: version, gates, configuration of its admission plugins."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from cli.apiserver import pod
from cli.running import Kres

from kubectl_kres.admission.base.server import LimitedResource, Server
from kubectl_kres.admission.base.versions import AREAS, NEWEST, OLDEST, nearest_version
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.target_version import server_from_flags
from kubectl_kres.errors import InputError

#: What is said of a server beyond the rules.
BEYOND = f"; answers may differ in {', '.join(AREAS[:-1])} and {AREAS[-1]}"


@pytest.mark.parametrize(
    ("said", "used", "assumed"),
    [
        ("v1.33.2", (1, 33), ""),
        ("v1.27.0", OLDEST, ""),
        ("v1.37.2-gke.1+x", NEWEST, ""),
        ("1.30+", (1, 30), ""),
        ("v1.26.15", OLDEST, f"Kubernetes 1.26 is older than the rules known here: those of 1.27 are used{BEYOND}"),
        ("v1.40.0", NEWEST, f"Kubernetes 1.40 is newer than the rules known here: those of 1.37 are used{BEYOND}"),
        ("v2.0.0", NEWEST, f"Kubernetes 2.0 is newer than the rules known here: those of 1.37 are used{BEYOND}"),
        ("", NEWEST, "the server's version is not known: the rules of Kubernetes 1.37 are used"),
        ("latest", NEWEST, "the server's version is not known: the rules of Kubernetes 1.37 are used"),
    ],
)
def test_versions(said: str, used: tuple[int, int], assumed: str):
    assert nearest_version(said) == (used, assumed)
    assert server_from_flags(Options())(said) == (Server(used), (assumed,) if assumed else ())


@pytest.mark.parametrize(
    ("options", "said", "server", "assumptions"),
    [
        (Options(kube_version="1.29"), "v1.33.1", Server((1, 29)), 0),
        (Options(kube_version="v1.29.4"), "", Server((1, 29)), 0),
        (
            Options(feature_gates=("PodLevelResources=true, InPlacePodVerticalScaling=False",)),
            "1.33",
            Server((1, 33), {"PodLevelResources": True, "InPlacePodVerticalScaling": False}),
            0,
        ),
        (Options(feature_gates=("SidecarContainers=false",)), "1.35", Server((1, 35), {"SidecarContainers": False}), 1),
        (Options(feature_gates=("PodLevelResources=true",)), "1.30", Server((1, 30), {"PodLevelResources": True}), 1),
    ],
)
def test_flags(options: Options, said: str, server: Server, assumptions: int):
    found, assumed = server_from_flags(options)(said)
    assert (found, len(assumed)) == (server, assumptions)


def test_gates_without_effect_are_said():
    say = server_from_flags(Options(feature_gates=("SidecarContainers=false,PodLevelResources=true",)))
    assert say("1.35")[1] == (
        "SidecarContainers=false has no effect: in Kubernetes 1.35 the gate can no longer be switched off",
    )
    assert say("1.30")[1] == ("PodLevelResources=true has no effect: in Kubernetes 1.30 the gate does not exist",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "--kube-version latest",
            'invalid argument "latest" for "--kube-version" flag: a version such as 1.33 is expected',
        ),
        (
            "--feature-gates PodLevelResource=true",
            "--feature-gates: PodLevelResource bears on no computed resource value, the nearest is PodLevelResources",
        ),
        ("--feature-gates SidecarContainers", '--feature-gates: SidecarContainers is true or false, not ""'),
        ("--feature-gates SidecarContainers=1", '--feature-gates: SidecarContainers is true or false, not "1"'),
        ("--admission-config nope", "nope: does not exist"),
        ("--admission-config .", ".: is a directory"),
    ],
)
def test_bad_flags(kres: Kres, file, text: str, message: str):
    assert kres(f"explain --offline -f {file(pod('web'))} {text}") == (2, "", f"error: {message}\n")


LIMITED = {"resource": "pods", "matchContains": ["requests.cpu"]}
QUOTA = {
    "apiVersion": "apiserver.config.k8s.io/v1",
    "kind": "ResourceQuotaConfiguration",
    "limitedResources": [LIMITED],
}
ADMISSION = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration"}
WANTED = (LimitedResource("pods", match_contains=("requests.cpu",)),)


@pytest.mark.parametrize(
    ("config", "limited", "disabled"),
    [
        (QUOTA, WANTED, set()),
        (ADMISSION, (), set()),
        ({**ADMISSION, "plugins": [{"name": "ResourceQuota", "configuration": QUOTA}]}, WANTED, set()),
        ({**ADMISSION, "plugins": [{"name": "ResourceQuota", "path": "quota.yaml"}]}, WANTED, set()),
        ({**ADMISSION, "plugins": [{"name": "PodSecurity", "configuration": {"a": 1}}]}, (), set()),
        ({**ADMISSION, "disabledPlugins": ["LimitRanger"]}, (), {"LimitRanger"}),
    ],
)
def test_admission_configuration(
    tmp_path: Path, config: object, limited: tuple[LimitedResource, ...], disabled: set[str]
):
    (tmp_path / "config.yaml").write_bytes(msgspec.yaml.encode(config))
    (tmp_path / "quota.yaml").write_bytes(msgspec.yaml.encode(QUOTA))
    server, _ = server_from_flags(Options(admission_config=str(tmp_path / "config.yaml")))("1.33")
    assert (server.limited_resources, server.disabled_plugins) == (limited, disabled)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "an AdmissionConfiguration or ResourceQuotaConfiguration is expected"),
        ("kind: Pod", 'an AdmissionConfiguration or ResourceQuotaConfiguration is expected, not kind "Pod"'),
        ("kind: [", ":1:8: "),
        ("kind: \x00", "is no YAML"),
        ("kind: AdmissionConfiguration\nplugin: []", "unknown field `plugin`"),
        (
            "kind: ResourceQuotaConfiguration\nlimitedResources: [{resources: pods}]",
            "missing required field `resource`",
        ),
    ],
)
def test_files_that_are_no_configuration(tmp_path: Path, text: str, message: str):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        server_from_flags(Options(admission_config=str(path)))
    assert caught.value.message.startswith(f"{path}:") and message in caught.value.message


def test_the_version_reaches_the_answer(kres: Kres, api):
    api.objects.append(pod("web"))
    api.version = {"gitVersion": "v1.50.0"}
    assert "Kubernetes 1.50 is newer than the rules known here" in " ".join(kres("explain pod/web").out.split())
    assert "1.50" not in kres("explain pod/web --kube-version 1.33").out
