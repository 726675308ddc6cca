"""Tekton 1.15 on 230 objects that it refuses (``webhook_recordings.json``): texts, declarations, JSON types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tekton.made import results, taskrun

from kubectl_kres.tekton.model import Named, PodTemplate, Step, VolumeMount
from kubectl_kres.tekton.rules.base.config import Flags, merge_templates
from kubectl_kres.tekton.rules.controller.creation import unbuildable
from kubectl_kres.tekton.rules.validation.variable_faults import find_mentions, mask_text
from kubectl_kres.tekton.rules.validation.webhook import admit_object

CASES = json.loads(Path(__file__).with_name("webhook_recordings.json").read_text())


def ident(case: dict[str, Any]) -> str:
    return f"{case['kind']}-{case['message'].removeprefix('mutation failed: cannot decode incoming new object: ')}"[:90]


@pytest.mark.parametrize("case", CASES, ids=map(ident, CASES))
def test_what_the_webhook_says(case):
    meta = {"name": "x", "namespace": "ns"}
    raw = {"apiVersion": f"tekton.dev/{case['version']}", "kind": case["kind"], "metadata": meta, "spec": case["spec"]}
    said = getattr(admit_object(raw, Flags()), "message", "")
    assert said.removeprefix("validation failed: ") == case["message"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$(params.a)-$(params['b.c'])$(params[\"d\"])", ["a", "b.c", "d"]),
        ("$(params.a\n)$(params.b)", ["b"]),
        ("$(params.a[*])$(params.[0])", ["a[*]", "[0]"]),
        ("$(params['a)$(params.b)", ["b"]),
        ("$$(params.a)${params.b}$(inputs.params.c)", ["a"]),
    ],
)
def test_mentions(text, names):
    assert [one.name for one in find_mentions(text, "params")] == names


def test_a_long_line_of_openings_is_looked_at_once():
    assert not list(find_mentions("$(params." * 200_000, "params"))


def test_scripts_are_shown_to_nobody():
    assert mask_text("curl -H token:x $(params.url) -d '$(params.b)'") == "...$(params.url)...$(params.b)'"


def test_a_step_template_fills_texts():
    own = Step("a", image="i", volume_mounts=(VolumeMount("v", "/x"),))
    template = Step(image="j", args=("t",), volume_mounts=(VolumeMount("w", "/x"), VolumeMount("u", "/y")))
    (step,) = merge_templates((own,), template)
    assert (step.image, step.args, step.volume_mounts) == (
        "i", ("t",), (VolumeMount("v", "/x"), VolumeMount("u", "/y")),
    )  # fmt: skip
    assert merge_templates((own,), None) == (own,)


@pytest.mark.parametrize(
    ("volumes", "flags", "place"),
    [
        (["tekton-internal-bin"], Flags(), "[9]"),
        (["v", "tekton-internal-run-0"], Flags(creds_init=False), "[9]"),
        (["tekton-internal-downward"], Flags(await_sidecars=False, keep_pod=True), "[9]"),
        (["tekton-internal-downward"], Flags(injected_sidecars=False), ""),
        (["of-template"], Flags(), "[10]"),
        (["v"], Flags(), ""),
    ],
)
def test_volumes_with_the_name_of_one_of_tektons(volumes, flags, place):
    run = taskrun(taskSpec={"steps": [{"name": "a", "image": "i"}], "volumes": [{"name": name} for name in volumes]})
    found = unbuildable(run, run.spec.task_spec, PodTemplate(volumes=(Named("of-template"),)), flags)
    assert [one.message.partition(f'"{volumes[-1]}": ')[2].partition(".")[0] for one in found] == [place] * bool(place)


@pytest.mark.parametrize(
    ("mounts", "wrong"),
    [
        ([("v", "/x"), ("no", "/y")], "volumeMounts[1].name: Not found"),
        ([("v", "/x"), ("v", "/x")], 'volumeMounts[1].mountPath: Invalid value: "/x": must be unique'),
        ([("$(params.p)", "/x"), ("ws-abcde", "/y"), ("$(workspaces.w.volume)", "/z")], ""),
    ],
)
def test_mounts_that_no_pod_can_have(mounts, wrong):
    step = {"name": "a", "volumeMounts": [{"name": name, "mountPath": path} for name, path in mounts]}
    params = [{"name": "p", "default": "v"}]
    (one,) = results(taskrun(taskSpec={"steps": [step], "volumes": [{"name": "v"}], "params": params}))
    assert (one.problem is not None) == bool(wrong)
    assert wrong in (one.problem.message if one.problem is not None else "")
