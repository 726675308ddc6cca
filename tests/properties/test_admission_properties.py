"""What holds for every pod under any policies: the journal replays, outcomes are all that can happen and no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any

import msgspec
from hypothesis import event, given
from hypothesis import strategies as st
from properties.generated import FEW, KATA, pod, pods, policies, range_lists, written

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import Policies, admit, policies_of
from kubectl_kres.model.pod import Pod
from kubectl_kres.provenance.journal import Journal, Set, replay
from kubectl_kres.provenance.rules import RULES

SERVERS = st.sampled_from([Server(), Server(), Server((1, 33)), Server((1, 27))])


def kept(outcome: Outcome) -> dict[str, str]:
    """What is stored, by path: quantities, the class, the annotation."""
    stored_pod = outcome.object
    assert stored_pod is not None
    spec = stored_pod["spec"]
    found = written(stored_pod)
    if "priorityClassName" in spec:
        found["spec.priorityClassName"] = spec["priorityClassName"]
    for name, text in stored_pod["metadata"].get("annotations", {}).items():
        found[f"metadata.annotations[{name}]"] = text
    return found


def answer(outcome: Outcome) -> tuple[Any, ...]:
    """An outcome without its journal and the name of its order."""
    values = outcome.draft.values() if outcome.draft is not None else {}
    shown = tuple(sorted((path, str(quantity)) for path, quantity in values.items()))
    return outcome.code, outcome.message, outcome.warnings, repr(outcome.charges), repr(outcome.object), shown


def answers(outcomes: Iterable[Outcome]) -> set[tuple[Any, ...]]:
    return {answer(outcome) for outcome in outcomes}


@FEW
@given(pods(), policies(), SERVERS)
def test_the_journal_replays_to_what_is_stored(raw, held, server):
    for outcome in admit(pod(raw), held, server):
        event(f"{outcome.code}")
        replayed = replay(written(raw), outcome.journal)
        if outcome.object is not None:
            assert replayed == kept(outcome)
        else:
            reached = {path: str(quantity) for path, quantity in outcome.draft.values().items()}
            assert {path: text for path, text in replayed.items() if "[" in path} == reached


@FEW
@given(pods(), policies(), SERVERS)
def test_each_step_starts_where_the_last_one_ended(raw, held, server):
    for outcome in admit(pod(raw), held, server):
        now: dict[str, str] = written(raw)
        for entry in outcome.journal:
            if isinstance(entry, Set):
                assert entry.before == now.get(entry.path), entry
                assert entry.after != entry.before
                now[entry.path] = entry.after


@FEW
@given(pods(), policies(), SERVERS)
def test_every_rule_is_in_the_catalogue_and_the_journal_survives_json(raw, held, server):
    for outcome in admit(pod(raw), held, server):
        named = {entry.rule for entry in outcome.journal if hasattr(entry, "rule")}
        found = {finding.rule for finding in outcome.refusal.findings} if outcome.refusal else set()
        assert (named | found) - set(RULES) == set()
        assert msgspec.json.decode(msgspec.json.encode(outcome.journal), type=Journal) == outcome.journal


@FEW
@given(pods(), policies(), SERVERS)
def test_without_a_journal_and_a_second_time_the_answers_are_the_same(raw, held, server):
    outcomes = admit(pod(raw), held, server)
    again = admit(pod(raw), held, server)
    assert [(answer(one), one.journal, one.order) for one in again] == [
        (answer(one), one.journal, one.order) for one in outcomes
    ]
    bare = admit(pod(raw), held, server, journal=False)
    assert list(map(answer, bare)) == list(map(answer, outcomes))
    assert not any(one.journal for one in bare)


def by_hand(raw: Mapping[str, Any], held: Policies, order: Iterable[Any]) -> dict[str, str]:
    """The containers' values after the LimitRanges' defaults in one order, by another way than the engine's."""
    bare = Policies((), (), None, None)
    [outcome] = admit(without_level(raw), bare, Server((1, 33)))
    assert outcome.draft is not None
    values = {path: str(quantity) for path, quantity in outcome.draft.values().items()}
    slots = {path.partition(".resources.")[0] for path in paths_of(raw)}
    for limits in order:
        for item in (item for item in limits.items if item.type == "Container"):
            for side, defaults in (("limits", item.default), ("requests", item.default_request)):
                for slot in slots:
                    for name, quantity in defaults.items():
                        values.setdefault(f"{slot}.resources.{side}[{name}]", str(quantity))
    return values


def paths_of(raw: Mapping[str, Any]) -> list[str]:
    """A path below each container and init container."""
    return [
        f"spec.{key}[{index}].resources."
        for key in ("containers", "initContainers")
        for index, _ in enumerate(raw["spec"].get(key) or ())
    ]


def without_level(raw: Mapping[str, Any]) -> Pod:
    """The pod as it decodes, without a pod level and without a runtime class."""
    spec = {key: value for key, value in raw["spec"].items() if key not in {"resources", "runtimeClassName"}}
    return pod({**raw, "spec": spec})


@FEW
@given(pods(level=False), range_lists())
def test_outcomes_are_those_of_all_orders(raw, ranges):
    held = policies_of(ranges, [], [], [])
    every = {frozenset(by_hand(raw, held, order).items()) for order in permutations(held.limits)}
    raw = {**raw, "spec": {key: value for key, value in raw["spec"].items() if key != "runtimeClassName"}}
    outcomes = admit(pod(raw), held, Server())
    found = {frozenset((path, str(q)) for path, q in one.draft.values().items()) for one in outcomes}
    assert found == every
    event(f"{len(every)} ways")


@FEW
@given(pods(), range_lists(), st.data())
def test_the_order_in_which_policies_are_given_does_not_matter(raw, ranges, data):
    held = policies_of(ranges, [], [], [KATA])
    shuffled = Policies(tuple(data.draw(st.permutations(held.limits))), (), held.priorities, held.runtimes)
    assert answers(admit(pod(raw), shuffled, Server())) == answers(admit(pod(raw), held, Server()))


@FEW
@given(pods(), policies(), st.data())
def test_a_limit_range_that_sets_and_refuses_nothing_can_go(raw, held, data):
    outcomes = admit(pod(raw), held, Server())
    named = {entry.source.name for one in outcomes for entry in one.journal if isinstance(entry, Set) and entry.source}
    named |= {
        finding.source.name
        for one in outcomes
        if one.refusal
        for finding in one.refusal.findings
        if finding.source is not None
    }
    idle = [limits for limits in held.limits if limits.source.name not in named]
    if idle:
        gone = data.draw(st.sampled_from(idle))
        fewer = msgspec.structs.replace(held, limits=tuple(one for one in held.limits if one is not gone))
        assert answers(admit(pod(raw), fewer, Server())) == answers(outcomes)
        event("an idle one")
