"""The words of the sentences in reports, which are values there.

Each kind of sentence is worded in one module of ``render``, or of the texts of a system, which has ``WORDS``: the words
by type.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

import msgspec
from msgspec import Struct, structs

from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.record import SENTENCE, Clauses, Filled, Sentence
from kubectl_kres.render.text.system import systems

#: Where the sentences that a module defines are worded.
_WORDED_IN = {
    "kubectl_kres.record": __name__,
    "kubectl_kres.provenance.journal": "kubectl_kres.render.text.assumed",
    "kubectl_kres.reports.changes.notes": "kubectl_kres.render.change_notes",
    "kubectl_kres.reports.common.explanation": "kubectl_kres.render.verdict.note",
    "kubectl_kres.reports.common.replicas": "kubectl_kres.render.verdict.note",
    "kubectl_kres.reports.explain.advice": "kubectl_kres.render.verdict.note",
    "kubectl_kres.reports.run_state.details": "kubectl_kres.render.verdict.state_details",
    "kubectl_kres.reports.run_state.next_steps": "kubectl_kres.render.verdict.next_steps",
    "kubectl_kres.reports.common.nodes": "kubectl_kres.render.verdict.node_fixes",
    "kubectl_kres.reports.common.remedy": "kubectl_kres.render.verdict.edits",
    "kubectl_kres.reports.remedies.passing_room": "kubectl_kres.render.verdict.room_fixes",
    "kubectl_kres.reports.remedies.pod_update": "kubectl_kres.render.verdict.room_fixes",
    "kubectl_kres.reports.remedies.refusal_fixes": "kubectl_kres.render.verdict.refusal_fixes",
    "kubectl_kres.reports.remedies.unseen_refusal": "kubectl_kres.render.verdict.unseen_fixes",
    "kubectl_kres.reports.pod.live_differences": "kubectl_kres.render.pod.live_reasons",
    "kubectl_kres.reports.quota.uncounted_names": "kubectl_kres.render.quota.quota_blocks",
    "kubectl_kres.reports.namespace.allowed_ranges": "kubectl_kres.render.quota.conflicts",
    "kubectl_kres.reports.qos.qos_report": "kubectl_kres.render.pod.qos_notes",
}


def sentence_text(sentence: Sentence | str) -> str:
    """Return its words; a text as it is."""
    if isinstance(sentence, str):
        return sentence
    return str(words_of(type(sentence).__module__)[type(sentence)](sentence))


def in_words(report: Struct) -> Any:
    """Return a report with words in place of the sentences that are its own fields."""
    own = {name: getattr(report, name) for name in report.__struct_fields__}
    words = {name: sentence_text(value) for name, value in own.items() if isinstance(value, Sentence)}
    return structs.replace(report, **words) if words else report


def decisive_texts(assumptions: Iterable[Assumption]) -> list[str]:
    """Return what may turn an answer, each once."""
    return list(dict.fromkeys(sentence_text(item.text) for item in assumptions if item.decisive))


@lru_cache
def words_of(module: str) -> Mapping[type[Sentence], Callable[[Any], str]]:
    """Return the words of the sentences that a module defines."""
    words: Mapping[type[Sentence], Callable[[Any], str]] = import_module(worded_modules()[module]).WORDS
    return words


def worded_modules() -> Mapping[str, str]:
    """Return by module that defines sentences the one that words them."""
    return ChainMap(_WORDED_IN, *(dict(system.sentences) for system in systems()))


def plain_sentence(value: Mapping[str, Any]) -> str:
    """Return the words of a sentence that was made plain already, with words in place of those in it."""
    return sentence_text(msgspec.convert(value, _by_tag(value[SENTENCE])))


@lru_cache
def _by_tag(tag: str) -> type[Sentence]:
    return next(kind for kind in _kinds(Sentence) if kind.__struct_config__.tag == tag)


def _clauses(clauses: Clauses) -> str:
    return clauses.between.join(map(sentence_text, clauses.parts))


def _filled(filled: Filled) -> str:
    return filled.template.format_map({name: sentence_text(value) for name, value in filled.values.items()})


WORDS: Mapping[type[Sentence], Callable[[Any], str]] = {Clauses: _clauses, Filled: _filled}


def _kinds(base: type[Sentence]) -> Iterator[type[Sentence]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)
