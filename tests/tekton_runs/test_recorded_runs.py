"""What is said of runs as Tekton's own controller left them: those that ended, those that wait, those it refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from reports.stored import store_of

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.pod.explain import explanation_lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Explanation, Subject
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.reports.overview import AreaInput
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.overview import AREAS
from kubectl_kres.tekton.reports.part import TektonPart

_RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())
_CASES: Mapping[str, Any] = {case["name"]: case for case in _RECORDED["cases"]}
_LEAST = 60
#: Refused by the controller or the server before there is a pod.
_REFUSED = ("PodCreationFailed", "PodAdmissionFailed", "TaskRunValidationFailed", "TaskRunResolutionFailed",
            "ExceededResourceQuota")  # fmt: skip


#: What is the run's own doing, or somebody's who looks at it: no row; of a step that was killed the area of workloads.
_OWN = ("StepFailed", "StepOOM", "TaskRunCancelled", "TaskRunTimeout", "SidecarFailed")


def _case(name: str, *, seen: bool = True) -> tuple[Store, EvaluationOptions]:
    """Return the world of a case; ``seen`` False: before Tekton has looked at the run."""
    given = []
    for item in _CASES[name]["given"]:
        if not seen and item["kind"] == "Pod":
            continue
        without = {key: value for key, value in item.items() if key != "status"}
        given.append(without if not seen and item["kind"] == "TaskRun" else item)
    space = given[0]["metadata"]["name"]
    account = {"kind": "ServiceAccount", "metadata": {"name": "default", "namespace": space}}
    return store_of(*given, account), EvaluationOptions(now=_later(name))


def _space(store: Store) -> str:
    (space,) = store.all("Namespace")
    return str(space.metadata.name)


def _later(name: str) -> str:
    run = next(item for item in _CASES[name]["given"] if item["kind"] == "TaskRun")
    return str(run["metadata"]["creationTimestamp"]).replace("T03:", "T04:")


def _explained(store: Store, options: EvaluationOptions) -> Explanation:
    (run,) = store.all("TaskRun")
    subject = Subject(ObjectRef("TaskRun", "run", run.metadata.namespace), BY_KIND["TaskRun"])
    return explain(store, subject, options)


def _text(found: Explanation) -> str:
    return "\n".join("".join(text for _, text in line) for line in explanation_lines(found, steps=False, width=1000))


@pytest.mark.parametrize("name", _CASES)
def test_the_condition_is_known_and_nothing_that_failed_is_silent(name: str) -> None:
    condition = _CASES[name]["expect"]["condition"]
    found = _explained(*_case(name))
    part = part_of(found.pod_parts, TektonPart)
    assert part is not None
    assert (part.status, part.reason) == (condition["status"], condition["reason"])
    text = _text(found)
    if condition["status"] == "False":
        assert found.fixes or (found.note is not None and found.note.next), text
        assert condition["reason"] in text or condition["message"][:40] in text, text


@pytest.mark.parametrize(
    "name", [name for name, case in _CASES.items() if case["expect"]["condition"]["status"] == "False"]
)
def test_a_failed_run_has_a_row_in_the_overview(name: str) -> None:
    store, options = _case(name)
    area, _ = AREAS[0].make(AreaInput(store, _space(store), options, lambda _quota: ""))
    reasons = [problem.reason for problem in area.problems]
    condition = _CASES[name]["expect"]["condition"]
    own = condition["reason"] in _OWN
    assert len(reasons) == (0 if own else 1)
    assert all(reasons)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, case in _CASES.items()
        if case["expect"]["condition"]["reason"] in _REFUSED and not name.startswith("waits-")
    ],
)
def test_a_refusal_is_predicted_before_tekton_looks(name: str) -> None:
    """In the words that the controller then used, as far as these are the server's."""
    condition = _CASES[name]["expect"]["condition"]
    found = _explained(*_case(name, seen=False))
    part = part_of(found.pod_parts, TektonPart)
    assert part is not None
    assert part.problem is not None
    assert part.problem.reason == condition["reason"]


def test_cases_are_many_and_differ() -> None:
    reasons = Counter(case["expect"]["condition"]["reason"] for case in _CASES.values())
    assert len(_CASES) >= _LEAST
    assert len(reasons) >= 12


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("waits-image-pull", "correct the image"),
        ("waits-config", "create what the containers refer to"),
        ("added-failed", "kubectl logs"),
        ("pod-evicted", "ask for the memory or storage that it uses"),
        ("killed-2", "raise limits.memory of step-s0"),
        ("added-killed", "prepare"),
        ("quota-unstated", "create LimitRange container-defaults"),
        ("no-account", "kubectl create serviceaccount build-bot"),
    ],
)
def test_the_fix_is_about_what_a_new_run_would_meet(name: str, words: str) -> None:
    fixes = _explained(*_case(name)).fixes
    assert any(words in sentence_text(fix.text) for fix in fixes), fixes


def test_a_sidecar_that_goes_on_is_named() -> None:
    text = _text(_explained(*_case("sidecar-goes-on")))
    assert "sidecar-proxy still runs although the run has ended" in text
