"""Tekton's configuration: what the ConfigMaps say, what is assumed, and what a run says of itself."""

from __future__ import annotations

import msgspec
import pytest
from tekton.made import config

from kubectl_kres.errors import UsageError
from kubectl_kres.model.tekton_config import ConfigMap
from kubectl_kres.tekton.model import Provenance
from kubectl_kres.tekton.rules.base.config import Flags, entries_of, flags_of, parse_config, version_of


def test_what_is_shipped():
    found = config()
    assert (found.entries, found.flags, found.timeout_minutes, found.assumed) == ({}, Flags(), 60, ())


def test_what_could_not_be_read_is_said():
    codes = [
        (one.code, one.text) for one in parse_config(None, None, None, msgspec.yaml.decode, is_known=False).assumed
    ]
    assert [code for code, _ in codes] == ["tekton/config-unknown"] * 3
    assert codes[1][1] == "ConfigMap feature-flags could not be read: assumed as shipped"
    assert parse_config(None, None, None, msgspec.yaml.decode).assumed == ()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", True),
        ("- a", True),
        ("default: 5", True),
        ("default: {requests: {cpu: fast}}", True),
        ("default: {requests: {cpu: [1]}}", True),
        ("default:\nprefix-step: {requests: {cpu: 1}}", False),
        ("  ", False),
        ("null", False),
    ],
)
def test_entries_that_cannot_be_read(text, fault):
    entries, why = entries_of(text, msgspec.yaml.decode)
    assert bool(why) == fault
    assert not (fault and entries)


def test_whatever_the_reader_of_yaml_finds_wrong_is_a_remark():
    def fails(_text):
        raise UsageError("no such anchor")

    held = msgspec.convert({"data": {"default-container-resource-requirements": "a: *b"}}, ConfigMap)
    (remark,) = parse_config(held, None, None, fails).assumed
    assert remark.code == "tekton/config-unreadable"
    assert remark.text == (
        "default-container-resource-requirements of config-defaults cannot be read (no such anchor): assumed empty"
    )


def test_flags_and_the_timeout():
    found = config(
        enable_api_fields="Alpha",
        results_from="sidecar-logs",
        enable_kubernetes_sidecar="true",
        disable_affinity_assistant="true",
        set_security_context="false",
        default_timeout_minutes="5",
    )
    assert found.flags == Flags("alpha", "sidecar-logs", kubernetes_sidecar=True, coschedule="disabled")
    assert found.timeout_minutes == 5
    assert config(default_timeout_minutes="many").timeout_minutes == 60
    assert config(coschedule="pipelineruns", disable_affinity_assistant="true").flags.coschedule == "pipelineruns"


#: Only flags that are on are written, so that these are off where any other is there.
UNNAMED = {"await_sidecars": False, "injected_sidecars": False}


@pytest.mark.parametrize(
    ("held", "flags"),
    [
        (None, Flags("alpha", kubernetes_sidecar=True)),
        ({}, Flags("alpha", kubernetes_sidecar=True)),
        ({"enableAPIFields": "stable"}, Flags("stable", **UNNAMED)),
        ({"EnableAPIFields": "stable", "Coschedule": "disabled"}, Flags("stable", coschedule="disabled", **UNNAMED)),
        ({"enableKubernetesSidecar": True, "awaitSidecarReadiness": True, "runningInEnvWithInjectedSidecars": True},
         Flags("alpha", kubernetes_sidecar=True)),
        ({"disableCredsInit": True, "enableParamEnum": True},
         Flags("alpha", creds_init=False, param_enum=True, **UNNAMED)),
    ],
)  # fmt: skip
def test_flags_that_a_run_was_made_with(held, flags):
    assert flags_of(Provenance(held), Flags("alpha", kubernetes_sidecar=True)) == flags


@pytest.mark.parametrize(
    ("text", "version"),
    [("v1.15.0", (1, 15, 0)), ("0.39.0-rc1", (0, 39, 0)), ("v1.2", (1, 2, 0)), ("devel", None), ("", None)],
)
def test_versions(text, version):
    assert version_of(text) == version
    old = [one.code for one in config(info=text).assumed]
    assert old == (["tekton/too-old"] if version == (0, 39, 0) else [])
