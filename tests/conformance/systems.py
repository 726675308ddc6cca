"""The recorded systems, the adapter of each that has an engine, and the verdict on a case.

An adapter is a module beside this one, named like the system with ``_`` for ``-``. It has

COMPARED            keys of ``expect`` that are compared
NOT_COMPARED        the other keys, each with the reason why not
play(case, file)    the engine's outcomes in the shape of ``expect``; raises ``Uncovered`` where there is no engine yet

and may have

OPTIONAL                compared keys that are not recorded everywhere: absent means not recorded, not empty
required(case, file)    whether the case must be covered, so that ``Uncovered`` is a failure; without it: no
complete(case, file)    whether the answers are all that can happen; without it: no
loose(case, file)       which values are compared by amount because their notation is arbitrary; without it: none
answers(case)           all recorded answers; without it: ``expect``, ``variants``, ``outcomes``, ``expect.anyOf``
rules(case, file)       the codes of the rules that the outcomes name; without it: none
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from conformance.cases import Case
from conformance.compare import Answer, Loose, exactly, faults

Data = Mapping[str, Any]


class Uncovered(Exception):
    """The engine does not compute such a case yet; the text says what is missing."""


def _never(_case: Data, _file: Data) -> bool:
    return False


def _exactly(_case: Data, _file: Data) -> Loose:
    return exactly


def _no_rules(_case: Data, _file: Data) -> Collection[str]:
    return ()


def recorded_answers(case: Data) -> tuple[Answer, ...]:
    """Every answer that was seen to the very same request."""
    expect = case["expect"]
    return (
        *expect.get("anyOf", (expect,)),
        *case.get("variants", ()),
        *(outcome["expect"] for outcome in case.get("outcomes", ())),
    )


@dataclass(frozen=True)
class System:
    """A recorded system as its adapter describes it."""

    compared: Collection[str]
    not_compared: Mapping[str, str]
    play: Callable[[Data, Data], Sequence[Answer]]
    optional: Collection[str] = ()
    required: Callable[[Data, Data], bool] = _never
    complete: Callable[[Data, Data], bool] = _never
    loose: Callable[[Data, Data], Loose] = _exactly
    answers: Callable[[Data], Sequence[Answer]] = recorded_answers
    rules: Callable[[Data, Data], Collection[str]] = _no_rules


@functools.cache
def system(name: str) -> System | None:
    """The system of a folder; None if it has no adapter yet."""
    module = f"conformance.{name.replace('-', '_')}"
    if importlib.util.find_spec(module) is None:
        return None
    adapter = importlib.import_module(module)
    own = {"optional": "OPTIONAL"} | {name: name for name in ("required", "complete", "loose", "answers", "rules")}
    given = {field: getattr(adapter, key) for field, key in own.items() if hasattr(adapter, key)}
    return System(adapter.COMPARED, adapter.NOT_COMPARED, adapter.play, **given)


class Verdict(NamedTuple):
    """How a case went: ``uncovered`` says what is missing, ``faults`` what is wrong; neither: it passed."""

    outcomes: Sequence[Answer] = ()
    uncovered: str = ""
    faults: Sequence[str] = ()


@functools.cache
def judge(case: Case) -> Verdict:
    """Play a case once and compare."""
    adapter = system(case.system)
    if adapter is None:
        return Verdict(uncovered=f"{case.system}: there is no engine yet")
    try:
        outcomes = adapter.play(case.data, case.file)
    except Uncovered as gap:
        if adapter.required(case.data, case.file):
            return Verdict(faults=[f"this case must be covered: {gap}"])
        return Verdict(uncovered=f"{case.system}: {gap}")
    except Exception as error:  # noqa: BLE001, whatever a recording asks, the run goes on
        told = "".join(traceback.format_exception_only(error)).strip()
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Verdict(faults=[f"this play cannot be expressed: {told} ({where.filename}:{where.lineno})"])
    found = faults(
        adapter.answers(case.data),
        outcomes,
        adapter.compared,
        complete=adapter.complete(case.data, case.file),
        optional=adapter.optional,
        loose=adapter.loose(case.data, case.file),
    )
    return Verdict(outcomes, faults=found)
