"""Differences: reasons beside lines, hunks that patch(1) would take, nothing where nothing changed."""

from __future__ import annotations

import re

import pytest
from golden.situation import SITUATIONS, load
from reports.stored import made, owned_by, store_of, subject, template

from kubectl_kres.render.pod.diff import lines
from kubectl_kres.render.text.data import yaml_lines
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.explain.difference import Difference, diff

HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


def patched(before: list[str], text: list[str]) -> list[str]:
    """``before`` with the hunks applied; comments that the diff adds to removed lines are not in it."""
    made_, at, index = [], 0, 0
    while index < len(text):
        start, removed, _, gained = map(int, HUNK.fullmatch(text[index]).groups())
        made_ += before[at : start - 1]
        at, index = start - 1, index + 1
        while removed or gained:
            sign, line = text[index][:1], text[index][1:]
            if sign != "+":
                assert before[at] == line, (before[at], line)
                at, removed = at + 1, removed - 1
            if sign != "-":
                made_.append(line)
                gained -= 1
            index += 1
    return made_ + before[at:]


def uncommented(found: list[str]) -> list[str]:
    return [re.sub(r"  # [a-z].*$", "", line) for line in found if not re.match(r" *# ", line)]


@pytest.mark.parametrize("name", SITUATIONS)
def test_hunks_apply(name):
    difference = diff(*load(name)[:3])
    text = [line for line in lines(difference) if not line.startswith(("# ", "#   ", "--- ", "+++ "))]
    before = [line for line, _ in yaml_lines(difference.before)]
    after = [line for line, _ in yaml_lines(difference.after)]
    # Comments on removed lines are no part of the file: why a live value is there.
    text = [re.sub(r"^(-.*?)  # [a-z].*$", r"\1", line) for line in text if not re.match(r"- *# ", line)]
    text = recounted(text)
    if not difference.changed:
        # What every stored pod has, a QoS class, is no difference to speak of.
        assert text == []
        assert before == after[: len(before)] and after[len(before)] == "status:"
        return
    assert uncommented(patched(before, text)) == after


def recounted(text: list[str]) -> list[str]:
    """Hunk headers counted anew, after lines were taken out."""
    counts: list[list[int]] = []
    for line in text:
        if HUNK.fullmatch(line):
            counts.append([0, 0])
        else:
            counts[-1][0] += line[:1] != "+"
            counts[-1][1] += line[:1] != "-"
    sizes = iter(counts)

    def header(line: str) -> str:
        found = HUNK.fullmatch(line)
        if found is None:
            return line
        removed, gained = next(sizes)
        return f"@@ -{found[1]},{removed} +{found[3]},{gained} @@"

    return [header(line) for line in text]


@pytest.mark.parametrize("name", SITUATIONS)
def test_headers_count_the_lines_below_them(name):
    text = [line for line in lines(diff(*load(name)[:3])) if not line.startswith(("# ", "#   ", "--- ", "+++ "))]
    assert text == recounted(text)


RANGE = made("LimitRange", "lr", spec={"limits": [{"type": "Container", "default": {"memory": "1Gi"}}]})


def of(resources: dict, *objects: dict, live: bool = False) -> Difference:
    container = {"name": "app", "image": "i", "resources": resources}
    if not live:
        return diff(
            store_of(*objects),
            subject("Pod/p", made("Pod", "p", spec={"containers": [container]})),
            EvaluationOptions(),
        )
    pod = made(
        "Pod", "p", spec={"containers": [container]}, status={"qosClass": "Burstable"}, **owned_by("ReplicaSet", "r")
    )
    owner = made("ReplicaSet", "r", spec=template({"name": "app", "resources": {"requests": {"cpu": "1"}}}))
    return diff(store_of(pod, owner, *objects), subject("Pod/p"), EvaluationOptions())


def test_a_live_pod_that_is_as_it_should_be():
    same = of({"requests": {"cpu": "1"}}, live=True)
    assert (same.changed, list(lines(same))) == (False, [])
    assert (same.before_label, same.after_label) == ("LIVE", "TODAY")


def test_another_notation_is_no_change_of_a_live_pod():
    assert not of({"requests": {"cpu": "1000m"}}, live=True).changed


def test_reasons_stand_beside_short_lines_and_above_long_ones():
    narrow = list(lines(of({"limits": {"cpu": "0.5"}}, RANGE), width=80))
    assert "+        cpu: 500m  # quantity/canonical" in narrow
    place = narrow.index("+        memory: 1Gi")
    assert narrow[place - 1].strip("+ ") == "# limitrange/default LimitRange/lr spec.limits[0].default[memory]"
    wide = list(lines(of({"limits": {"cpu": "0.5"}}, RANGE), width=200))
    assert "+        memory: 1Gi  # limitrange/default LimitRange/lr spec.limits[0].default[memory]" in wide


def test_equal_texts_at_other_places_are_not_the_same_line():
    text = list(lines(of({"requests": {"memory": "1Gi"}}, RANGE)))
    assert [line for line in text if "memory: 1Gi" in line] == ["+        memory: 1Gi", "         memory: 1Gi"]


def test_a_refusal_is_told_first():
    text = list(lines(of({"limits": {"cpu": "1"}, "requests": {"cpu": "2"}})))
    assert text[0].startswith('# refused: ns/Pod/p: Pod "p" is invalid: ')
    assert text[1].startswith("# fix: set requests.cpu of container app to 1")


def test_colours_are_by_sign():
    drawn = list(lines(of({"limits": {"cpu": "0.5"}}), color=True))
    assert any(line.startswith("\x1b[31m-") for line in drawn)
    assert any(line.startswith("\x1b[32m+") for line in drawn)
    assert [re.sub("\x1b\\[\\d+m", "", line) for line in drawn] == list(lines(of({"limits": {"cpu": "0.5"}})))
