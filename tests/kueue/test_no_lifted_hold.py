"""No answer about what Kueue holds back tells to lift the hold: it would be suspended again, deleted, or over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from kueue.recorded import runs, states, store_of, worlds

from kubectl_kres.kueue.model import GROUP
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.common.system import turn_of
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.explain_pipeline import explain_pipeline

_LIFTED = re.compile(r'spec\.suspend|"suspend"|schedulingGates|/spec/status|"status":null|managedBy', re.IGNORECASE)


def held(store: Store) -> Iterator[Subject]:
    for kind in ("Job", "Pod", "Deployment", "PipelineRun"):
        for item in store.all(kind):
            labels: Any = item.metadata.labels or {}
            if f"{GROUP}/queue-name" in labels:
                yield Subject(ObjectRef(kind, item.metadata.name, item.metadata.namespace), BY_KIND[kind])


def told(store: Store, subject: Subject) -> tuple[Remedy, ...]:
    if subject.ref.kind == "PipelineRun":
        return explain_pipeline(store, subject, EvaluationOptions()).fixes
    found = explain(store, subject, EvaluationOptions())
    next_step = sentence_text(found.run_state.next) if found.run_state is not None else ""
    return (*found.fixes, Remedy(next_step))


def lifts(store: Store) -> list[str]:
    texts = [
        f"{subject.ref}: {text}"
        for subject in held(store)
        for fix in told(store, subject)
        for text in (sentence_text(fix.text), *fix.commands)
    ]
    # That it is not to be done by hand may be said.
    return [text for text in texts if _LIFTED.search(text) and "done by hand" not in text]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("case", worlds())
def test_recorded_worlds(case: str):
    assert [text for state in states(worlds()[case]) for text in lifts(store_of(state))] == []


@pytest.mark.parametrize("step", range(len(runs())))
def test_recorded_runs(step: int):
    assert lifts(store_of(runs()[step])) == []


@pytest.mark.one_in(8)
@pytest.mark.parametrize("case", worlds())
def test_active_is_set_only_where_that_revives(case: str):
    """Of what was deactivated by hand."""
    for state in states(worlds()[case]):
        store = store_of(state)
        for subject in held(store):
            turn = turn_of(store, subject)
            account: Any = turn.part if turn is not None else None
            activates = turn is not None and any('"active":true' in each for fix in turn.fixes for each in fix.commands)
            assert not activates or account.reason in {"Deactivated", ""}, (case, subject.ref, account.reason)
