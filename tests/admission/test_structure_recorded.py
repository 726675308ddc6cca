"""Ports, claims, Services, labels: what a real server answered to the objects of structure.json."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.create import create, create_decoded
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, Service

RECORDED = json.loads(Path(__file__).with_name("structure.json").read_text())
NOTHING = policies_of([], [], [], [])


def unordered(message: str) -> list[str]:
    found = re.fullmatch(r'(.*?" is invalid: )\[(.*)\]', message, re.DOTALL)
    return [found[1], *sorted(found[2].split(", "))] if found else [message]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in RECORDED["cases"]])
def test_as_the_server_answered(case: dict):
    [outcome] = create(case["object"], NOTHING, Server())
    assert (outcome.code, unordered(outcome.message)) == (case["code"], unordered(case["message"]))
    assert sorted(outcome.warnings) == case["warnings"]


def test_enough_was_recorded_of_each_answer():
    codes = [case["code"] for case in RECORDED["cases"]]
    assert codes.count(422) >= 80
    assert codes.count(201) >= 40


@pytest.mark.parametrize("item", [PersistentVolumeClaim(kind="PersistentVolumeClaim"), Service(kind="Service")])
def test_what_a_struct_leaves_out_is_taken_as_valid(item: PersistentVolumeClaim | Service):
    [outcome] = create_decoded(item, NOTHING, Server())
    fields = [cause.field for cause in outcome.causes]
    assert fields == (["spec.resources[storage]"] if isinstance(item, PersistentVolumeClaim) else [])
