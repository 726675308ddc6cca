"""A remedy, applied, lets every wanted pod in, one after the other; and none of its edits can be left out."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import assume, event, given
from hypothesis import strategies as st
from properties.generated import FEW, pods, quota_lists, range_lists
from properties.remedied import applied
from reports.stored import made, store_of, subject

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import charges, with_used
from kubectl_kres.admission.request.new_pod import admit, policies_of, quota_request
from kubectl_kres.model.objects import LimitRange, ResourceQuota
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import parse
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.common.remedy import RaiseQuota, Remedy
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.remedies.shape import units

Raw = dict[str, Any]


def world(pod: Raw, ranges: list[LimitRange], quotas: list[ResourceQuota], wanted: int) -> list[Raw]:
    """A Deployment without pods, and the policies of its namespace, as they are on the wire."""
    spec = {"replicas": wanted, "template": {"spec": pod["spec"]}}
    runtime = {"kind": "RuntimeClass", "metadata": {"name": "kata"}, "handler": "kata",
               "overhead": {"podFixed": {"cpu": "250m", "memory": "160Mi"}}}  # fmt: skip
    policies = [msgspec.to_builtins(one) for one in (*ranges, *quotas)]
    for one, kind in zip(policies, ["LimitRange"] * len(ranges) + ["ResourceQuota"] * len(quotas), strict=True):
        one["kind"] = kind
    return [made("Deployment", "web", spec=spec), runtime, *policies]


def asked(objects: list[Raw]) -> tuple[Remedy, ...]:
    return explain(store_of(*objects), subject("Deployment/web"), EvaluationOptions()).fixes


def admitted(objects: list[Raw]) -> bool:
    """Whether the engine admits every wanted pod, one after the other, in the dearest of all orders."""
    held = policies_of(
        [msgspec.convert(one, LimitRange) for one in objects if one["kind"] == "LimitRange"],
        [msgspec.convert(one, ResourceQuota) for one in objects if one["kind"] == "ResourceQuota"],
        runtimes=[store_of(*objects).get("RuntimeClass", "kata", "")],
    )
    web = objects[0]["spec"]
    pod = msgspec.convert({"metadata": {"name": "web", "namespace": "ns"}, **web["template"]}, Pod)
    quotas = held.quotas
    for _ in range(web["replicas"]):
        outcomes = admit(pod, msgspec.structs.replace(held, quotas=quotas), Server())
        if not all(one.allowed for one in outcomes):
            return False
        dearest = [charges(quota_request(pod, one.draft), quotas) for one in outcomes]
        for costs in dearest[1:]:
            if costs != dearest[0]:
                return True
        quotas = with_used(quotas, dearest[0])
    return True


@FEW
@given(pods(), range_lists(), quota_lists(), st.integers(1, 3))
def test_a_remedy_that_is_applied_admits_every_wanted_pod(pod, ranges, quotas, wanted):
    objects = world(pod, ranges, quotas, wanted)
    found = [one for one in asked(objects) if one.proven and not one.remaining_refusal]
    assume(found)
    event(f"{len(found)} ways")
    for one in found:
        assert one.admits is not None and one.admits.pods == one.admits.wanted
        after = applied(one.edits, objects)
        assert admitted(after), sentence_text(one.text)
        assert not [left for left in asked(after) if left.proven], sentence_text(one.text)


@FEW
@given(pods(), range_lists(2), quota_lists(), st.integers(1, 2))
def test_no_edit_of_a_remedy_can_be_left_out(pod, ranges, quotas, wanted):
    objects = world(pod, ranges, quotas, wanted)
    found = [one for one in asked(objects) if one.proven and not one.remaining_refusal]
    assume(found)
    for one in found:
        for edit in one.edits:
            fewer = applied([other for other in one.edits if other != edit], objects)
            assert asked(fewer), (sentence_text(one.text), edit)


@FEW
@given(pods(), range_lists(1), quota_lists(), st.integers(1, 3))
def test_one_unit_less_of_a_quota_is_not_enough(pod, ranges, quotas, wanted):
    objects = world(pod, ranges, quotas, wanted)
    raising = [(one, edit) for one in asked(objects) for edit in one.edits if isinstance(edit, RaiseQuota)]
    assume(raising)
    for one, edit in raising:
        to = parse(edit.to)
        less = str(
            msgspec.structs.replace(to, nano=to.nano - units(edit.resource.rpartition(".")[2], parse("1")), text="")
        )
        others = [less_of(other, less) if other == edit else other for other in one.edits]
        assert asked(applied(others, objects)), (sentence_text(one.text), less)


def less_of(edit: RaiseQuota, to: str) -> RaiseQuota:
    return msgspec.structs.replace(edit, to=to)
