"""How many pods fit, against admitting one after the other; surge and its rounding."""

from __future__ import annotations

import pytest
from examples import examples
from golden.situation import filled
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import admit, policies_of
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import LimitRange, ObjectRef, ResourceQuota, decode_object
from kubectl_kres.model.pod import Pod, PodTemplateSpec
from kubectl_kres.model.workload import resolve_count
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.quota.fit import Fit, fit

SHOP = {"namespace": "shop"}


def quota(name, hard, used, **spec):
    return {
        "kind": "ResourceQuota",
        "metadata": {"name": name, **SHOP},
        "spec": {"hard": hard, **spec},
        "status": {"hard": hard, "used": {key: used.get(key, "0") for key in hard}},
    }


def limits(default):
    item = {"type": "Container", "default": default}
    return {"kind": "LimitRange", "metadata": {"name": "limits", **SHOP}, "spec": {"limits": [item]}}


def workload(template, kind="Deployment", replicas=1, status=None, **spec):
    return {
        "kind": kind,
        "metadata": {"name": "web", **SHOP},
        "spec": {"replicas": replicas, "template": {"spec": template}, **spec},
        "status": {"replicas": 0} if status is None else status,
    }


def found(objects, kind="Deployment") -> Fit:
    subject = Subject(ObjectRef(kind, "web", "shop"), BY_KIND[kind])
    return fit(filled(objects), subject, EvaluationOptions(Server()))


def one_after_the_other(template, quotas, ranges, most=60) -> int:
    """Admits pods until one is refused, with what was charged as the new status."""
    pod = Pod(
        decode_object({"metadata": {"name": "web", **SHOP}}, Pod).metadata,
        decode_object({"spec": template}, PodTemplateSpec).spec,
    )
    held = {raw["metadata"]["name"]: {**raw["status"]["used"]} for raw in quotas}
    for count in range(most):
        now = [
            decode_object({**raw, "status": {**raw["status"], "used": held[raw["metadata"]["name"]]}}, ResourceQuota)
            for raw in quotas
        ]
        policies = policies_of([decode_object(raw, LimitRange) for raw in ranges], now)
        outcomes = admit(pod, policies, Server(), journal=False)
        if not outcomes[0].allowed:
            return count
        for charge in outcomes[0].charges:
            held[charge.quota].update(charge.after)
    return most


NAMES = ["pods", "count/pods", "requests.cpu", "limits.memory", "memory", "requests.example.com/gpu"]
AMOUNTS = {"pods": "", "count/pods": "", "requests.cpu": "00m", "limits.memory": "00Mi", "memory": "00Mi"}


@st.composite
def scenes(draw):
    def list_type(names):
        wanted = draw(st.lists(st.sampled_from(names), unique=True))
        return {
            name: f"{draw(st.integers(1, 9))}{'' if '/' in name else '00m' if name == 'cpu' else '00Mi'}"
            for name in wanted
        }

    requests = list_type(["cpu", "memory", "example.com/gpu"])
    ceilings = {name: value for name, value in requests.items() if name == "example.com/gpu" or draw(st.booleans())}
    if "example.com/gpu" in requests:
        ceilings["example.com/gpu"] = requests["example.com/gpu"]
    template = {"containers": [{"name": "app", "resources": {"requests": requests, "limits": ceilings}}]}
    quotas = []
    for name in draw(st.lists(st.sampled_from(["a", "b"]), unique=True, min_size=1)):
        hard = {
            key: f"{draw(st.integers(0, 40))}{AMOUNTS.get(key, '')}" for key in draw(st.sets(st.sampled_from(NAMES)))
        }
        used = {key: f"{draw(st.integers(0, 20))}{AMOUNTS.get(key, '')}" for key in hard}
        scopes = {"scopes": [draw(st.sampled_from(["BestEffort", "NotBestEffort"]))]} if draw(st.booleans()) else {}
        quotas.append(quota(name, hard, used, **scopes))
    ranges = [limits({"cpu": "900m", "memory": "900Mi"})] if draw(st.booleans()) else []
    return template, quotas, ranges


@examples(150, deadline=None)
@given(scenes())
def test_as_many_as_are_admitted_one_after_the_other(scene):
    template, quotas, ranges = scene
    fits = found([workload(template), *quotas, *ranges]).fits
    assert (60 if fits is None else min(fits, 60)) == one_after_the_other(template, quotas, ranges)


BARE = {"containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}]}


def rolling(surge, unavailable):
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}}


def test_a_number_below_zero_is_none():
    answer = found([workload(BARE, replicas=-1)])
    assert (answer.replicas, answer.not_fitting, answer.next_rollout) == (None, 0, None)


@pytest.mark.parametrize(
    ("room", "replicas", "existing", "spec", "lacking", "surge_fits", "would"),
    [
        (10, 4, 4, {}, 0, 1, "fits"),
        (1, 5, 5, {}, 0, 1, "slow"),
        (0, 5, 5, {}, 0, 0, "shrinking"),
        (0, 3, 3, rolling(1, 0), 0, 0, "stuck"),
        (2, 3, 0, rolling(1, 0), 1, 0, None),
        (4, 3, 0, rolling(1, 0), 0, 1, "fits"),
        (0, 3, 3, {"strategy": {"type": "Recreate"}}, 0, None, "replaced"),
        (0, 3, 3, rolling(0, "10%"), 0, None, "replaced"),
        (3, 10, 10, rolling("25%", "0%"), 0, 3, "fits"),
        (2, 10, 10, rolling("25%", "0%"), 0, 2, "slow"),
    ],
)
def test_rolling_updates(room, replicas, existing, spec, lacking, surge_fits, would):
    one = workload(BARE, replicas=replicas, status={"replicas": existing}, **spec)
    answer = found([one, quota("q", {"pods": str(room)}, {})])
    assert (answer.fits, answer.not_fitting, answer.surge_fits, answer.next_rollout) == (
        room,
        lacking,
        surge_fits,
        would,
    )
    assert answer.enough == (not lacking and would in {"fits", "replaced"})
    assert answer.tightest == ("q",)


@pytest.mark.parametrize(
    ("kind", "one", "wanted", "missing", "enough"),
    [
        ("StatefulSet", workload(BARE, replicas=3, status={"replicas": 1}), 3, 2, False),
        ("StatefulSet", workload(BARE, replicas=2, status={"replicas": 1}), 2, 1, True),
        ("ReplicaSet", workload(BARE, replicas=0), 0, 0, True),
        ("Job", workload(BARE, parallelism=3, completions=2, status={"active": 1}), 2, 1, True),
        ("Job", workload(BARE, suspend=True, status={}), 0, 0, True),
        (
            "DaemonSet",
            workload(BARE, status={"desiredNumberScheduled": 4, "currentNumberScheduled": 2}),
            4,
            2,
            False,
        ),
    ],
)
def test_kinds_that_keep_a_number_of_pods(kind, one, wanted, missing, enough):
    answer = found([{**one, "kind": kind}, quota("q", {"pods": "1"}, {})], kind)
    assert answer.replicas is not None
    assert (answer.replicas.wanted, answer.replicas.missing_pods, answer.enough) == (wanted, missing, enough)


def test_without_a_quota_any_number_fits():
    answer = found([workload(BARE, replicas=100)])
    assert (answer.fits, answer.enough, answer.next_rollout) == (None, True, "fits")


@pytest.mark.parametrize(
    ("text", "total", "up", "down"),
    [
        (2, 10, 2, 2),
        ("25%", 10, 3, 2),
        ("25%", 4, 1, 1),
        ("0%", 7, 0, 0),
        ("100%", 3, 3, 3),
        ("1%", 0, 0, 0),
        ("34%", 3, 2, 1),
    ],
)
def test_percentages_are_rounded_as_the_server_does(text, total, up, down):
    assert (resolve_count(text, total, up=True), resolve_count(text, total, up=False)) == (up, down)


@pytest.mark.parametrize("text", ["", "x", "25", "-1%", "2.5%", "9999999%"])
def test_texts_that_are_no_percentage(text):
    with pytest.raises(UsageError, match="neither a count nor a percentage"):
        resolve_count(text, 4, up=True)
