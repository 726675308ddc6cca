"""The situations of ``waiting`` as a control plane with a scheduler had them: a snapshot that the e2e tests wrote."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from run_state.waiting import SITUATIONS

import kubectl_kres.api as kres
from kubectl_kres.render.pod import explain as brief
from kubectl_kres.render.verdict.brief import lines
from kubectl_kres.reports.common.explanation import Explanation, waits_or_fails

#: Written by tests/e2e/test_run_state_plane.py with KRES_RUN_STATE_SNAPSHOT=FILE.
SNAPSHOT = Path(__file__).with_name("waiting.kres")
CALM = re.compile("nothing to change|nothing wrong")
#: PipelineRuns are explained by another report.
_EXPLAINED = [name for name, one in SITUATIONS.items() if not one.subject.startswith("pipelinerun/")]


@pytest.fixture(scope="module")
def cluster() -> kres.Cluster:
    return kres.open_snapshot(SNAPSHOT)


@pytest.mark.parametrize("name", _EXPLAINED)
def test_the_second_word_and_its_reason(cluster: kres.Cluster, name: str):
    situation = SITUATIONS[name]
    explanation: Explanation = kres.explain(situation.subject, namespace=f"s-{name}", cluster=cluster).report
    state = explanation.run_state
    assert state is not None
    assert (state.state, state.reason) == (situation.word, situation.reason)
    assert waits_or_fails(state) == situation.held_up
    text = "\n".join(lines(brief.brief(explanation, "")))
    if situation.held_up:
        assert state.next or explanation.fixes
        assert CALM.search(text) is None, text
    if situation.word == "off":
        assert situation.says in text.partition("\n")[0]


def test_there_are_enough_situations():
    assert sum(situation.held_up for situation in SITUATIONS.values()) >= 60
