"""What is made once for objects that are alike is, byte for byte in JSON, what each would get alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from msgspec import structs
from properties.generated import FEW, Raw, pods, quota_lists, range_lists, resource_lists
from properties.test_outline_properties import UNREAD, objects, stored
from reports.stored import made, subject

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.commands.explain import ExplainPage, RunCache
from kubectl_kres.cli.output.documents import TextOnlyDifference
from kubectl_kres.cli.run_loop import AnswerBatch, RunSummary
from kubectl_kres.cli.select.workloads import Selection
from kubectl_kres.errors import KresError
from kubectl_kres.render.text import data
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.system import CacheKey
from kubectl_kres.reports.explain.difference import Differences, diff
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.store.store import Store

ASK = EvaluationOptions(now="2026-11-23T12:00:30Z")
#: Some names are parts of others, or of what answers say.
NAMES = [f"build-run-{end}" for end in ("7x2p", "9c4k", "0aa0", "k2z", "77", "8")]
ODD = [[], [], ["app"], ["cpu", "a"], [f"b{'-long' * 12}"]]
TIMES = [f"2026-11-23T1{hour}:00:00Z" for hour in range(3)]


@st.composite
def tasks(draw: st.DrawFn) -> Raw:
    """A Task of one or two steps."""
    steps = [
        {"name": f"s{at}", "image": "i", "computeResources": {"requests": draw(resource_lists(("cpu", "memory")))}}
        for at in range(draw(st.integers(1, 2)))
    ]
    return made("Task", "build", spec={"steps": steps})


@st.composite
def fates(draw: st.DrawFn) -> tuple[Raw, str, str]:
    """What a run says, how it fares, and in which words; ``{}`` is its name."""
    spec: Raw = draw(st.sampled_from([{}, {}, {}, {"timeout": "5m"}]))
    if not draw(st.integers(0, 5)):
        spec = {**spec, "podTemplate": {"priorityClassName": "$(context.taskRun.name)"}}
    reason = draw(st.sampled_from(["Succeeded", "Failed", "Failed", "Running", "ExceededResourceQuota", ""]))
    return spec, reason, draw(st.sampled_from(["it ended", "pod {}-pod ended", "app"]))


def run(name: str, task: Raw, fate: tuple[Raw, str, str], time: str) -> Raw:
    """A run of that Task."""
    spec, reason, text = fate
    status: Raw = {}
    if reason:
        word = {"Succeeded": "True", "Failed": "False"}.get(reason, "Unknown")
        condition = {"type": "Succeeded", "status": word, "reason": reason, "message": text.format(name)}
        status = {"conditions": [{**condition, "lastTransitionTime": time}], "startTime": time}
        if reason != "ExceededResourceQuota":
            status |= {"podName": f"{name}-pod", "taskSpec": task["spec"]}
    named = {"taskRef": {"name": "build"}, **spec}
    return made("TaskRun", name, spec=named, status=status, creationTimestamp=time, uid=f"uid-of-{name}")


def written(store: Store, subjects: list[Subject]) -> list[str]:
    """The items of a list in JSON, as the command writes them."""
    page, lost = ExplainPage(Options(output="json")), []
    tally = RunSummary(Options(output="json"), lost.append)
    turn = AnswerBatch(store, Selection(tuple(subjects), listed=True), ASK, many=True, cache=RunCache())
    reports = [one.report for one in page.reports(turn, tally)]
    return [one.text if isinstance(one, data.Item) else data.item(one).text for one in reports]


def alone(store: Store, subjects: list[Subject]) -> list[str]:
    """The same, each explained for itself; one without an explanation is left out."""
    found = []
    for one in subjects:
        try:
            found.append(data.item(structs.replace(explain(store, one, ASK), journal=())).text)
        except KresError:
            continue
    return found


@FEW
@given(st.data(), range_lists(), quota_lists(), UNREAD)
def test_runs_that_are_alike(data_, ranges, quotas, unread):
    task = data_.draw(tasks())
    names = [*data_.draw(st.permutations(NAMES)), *data_.draw(st.sampled_from(ODD))]
    ways = data_.draw(st.lists(fates(), min_size=1, max_size=2))
    held = [run(name, task, data_.draw(st.sampled_from(ways)), data_.draw(st.sampled_from(TIMES))) for name in names]
    store = stored([task, *held], [*ranges, *quotas], unread)
    subjects = [subject(f"TaskRun/{name}") for name in names]
    assert written(store, subjects) == alone(store, subjects)


@FEW
@given(st.data(), range_lists(), quota_lists(), UNREAD, st.integers(0, 2))
def test_pods_that_differ_alike(data_, ranges, quotas, unread, existing):
    sent, lived = (data_.draw(st.lists(pods(), min_size=2, max_size=2)) for _ in range(2))
    store = stored(objects(sent, lived, existing), [*ranges, *quotas], unread)
    many = Differences(store, ASK)
    for pod in store.all("Pod"):
        found, wanted = many.difference_of(pod), diff(store, subject(f"Pod/{pod.metadata.name}"), ASK)
        event("differs" if wanted.changed else "is the same")
        assert (found is not None) == wanted.changed
        assert found is None or data.to_json(found) == data.to_json(wanted)


def like(*texts: str, key: bytes = b"key") -> CacheKey:
    return CacheKey(key, texts)


def learned(*answers: tuple[Any, str]) -> TextOnlyDifference[str]:
    alike = TextOnlyDifference[str]()
    for one, text in answers:
        alike.record_answer(one, "the report", data.Item(text))
    return alike


def test_the_second_one_proves_it():
    alike = learned((like("web-1"), "web-1 is not web-2"))
    assert alike.previous_text(like("web-3")) is None
    alike.record_answer(like("web-4"), "another", data.Item("web-4 is not web-2"))
    assert alike.previous_text(like("web-3")) == ("the report", data.Item("web-3 is not web-2"))
    assert alike.previous_text(like("web-3", key=b"other")) is None


def test_two_that_differ_in_more_are_made_each():
    alike = learned((like("web-1"), "web-1: 5"), (like("web-4"), "web-4: 6"), (like("web-1"), "web-1: 5"))
    assert alike.previous_text(like("web-3")) is None


@pytest.mark.parametrize("texts", [('x", "evil": "y',), ("",), ("12", "1"), ("same", "same")])
def test_texts_that_cannot_be_put_in_place(texts):
    alike = learned((like(*texts), " ".join(texts)), (like(*texts), " ".join(texts)))
    assert alike.previous_text(like(*(f"other-{at}" for at, _ in enumerate(texts)))) is None
    sound = ("web", "cpu")[: len(texts)]
    alike = learned((like(*sound), " ".join(sound)), (like(*sound), " ".join(sound)))
    assert alike.previous_text(like(*texts)) is None
