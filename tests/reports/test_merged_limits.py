"""Tekton's merged LimitRange, as ``explain ns/x`` shows it where Tekton is installed."""

from __future__ import annotations

from reports.stored import limits, made, store_of, subject

from kubectl_kres.render.quota.policy import lines
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.common.system_parts import parts_of
from kubectl_kres.reports.namespace.explain_policy import explain_policy
from kubectl_kres.tekton.reports.part import MergedLimit

SPACE = made("Namespace", "ns")
INFO = {"kind": "ConfigMap", "metadata": {"name": "pipelines-info", "namespace": "tekton-pipelines"}}
ONE = limits("one", defaultRequest={"cpu": "400m"}, default={"cpu": "1"}, min={"cpu": "100m"})


def told(*objects):
    return explain_policy(store_of(SPACE, *objects), subject("Namespace/ns"), EvaluationOptions())


def test_the_bounds_and_defaults_of_steps_are_a_table():
    found = told(ONE, INFO)
    assert [
        (one.resource, one.default_request, one.minimum) for one in parts_of(found.namespace_parts, MergedLimit)
    ] == [("cpu", "400m", "100m")]
    text = " ".join(" ".join(lines(found)).split())
    heads = "RESOURCE REQUEST OF ALL STEPS AT LEAST FOR EACH"
    assert f"what Tekton's steps get from all LimitRanges together {heads}" in text
    assert "cpu 400m 100m LimitRange/one" in text


def test_several_limitranges_are_merged():
    found = told(ONE, limits("two", defaultRequest={"cpu": "300m", "memory": "64Mi"}, min={"cpu": "200m"}), INFO)
    [cpu] = [one for one in parts_of(found.namespace_parts, MergedLimit) if one.resource == "cpu"]
    assert cpu.minimum == "200m"


def test_without_tekton_and_without_limitranges_there_is_none():
    assert parts_of(told(ONE).namespace_parts, MergedLimit) == ()
    assert parts_of(told(INFO).namespace_parts, MergedLimit) == ()
