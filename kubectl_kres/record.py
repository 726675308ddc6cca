"""The bases of all reports, and of what an answer says in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct

#: What the names of fields begin with that documents put something else in place of.
HOLDER = "**"
#: The key that holds a sentence's kind until ``render`` has put words in place of it.
SENTENCE = f"{HOLDER}sentence"


class Record(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Base of all reports: camel case in JSON, what is empty left out.

    ``TRANSIENT``: fields that only say when something was, how often, or how long it still takes. ``ORDERED`` False:
    its place among others only says when it was.
    """

    TRANSIENT: ClassVar[frozenset[str]] = frozenset()
    ORDERED: ClassVar[bool] = True

    def stable_fields(self) -> tuple[Any, ...]:
        """Return the fields that make the report a different one if they change."""
        fields = (field for field in self.__struct_fields__ if field not in self.TRANSIENT)
        return tuple(comparable_value(getattr(self, field)) for field in fields)


def comparable_value(value: Any) -> Any:
    """Return the value to compare two answers by: reports in it without their transient fields."""
    if isinstance(value, Record):
        return type(value), value.stable_fields()
    if isinstance(value, tuple | list):
        unordered = value and isinstance(value[0], Record) and not value[0].ORDERED
        return (frozenset if unordered else tuple)(comparable_value(item) for item in value)
    if isinstance(value, Mapping):
        return {key: comparable_value(item) for key, item in value.items()}
    return value


class Sentence(Record, frozen=True, tag_field=SENTENCE):
    """Base of what an answer says in a sentence: the value of it, which ``render.text.sentences`` words.

    In documents there stand the words.
    """


#: What a report says: a value that ``render`` words, or a text that came so, as from a server.
Wording = Sentence | str


class Clauses(Sentence, frozen=True):
    """Several that belong together. ``between``: what stands between two of them."""

    parts: tuple[Wording, ...]
    between: str = "; "


class Filled(Sentence, frozen=True):
    """A rule's message, with the names of ``values`` in braces."""

    template: str
    values: Mapping[str, Wording]


def joined(*parts: Wording | None, between: str = "; ") -> Wording:
    """Return those that are not empty as one."""
    kept = tuple(part for part in parts if part)
    return kept[0] if len(kept) == 1 else Clauses(kept, between) if kept else ""
