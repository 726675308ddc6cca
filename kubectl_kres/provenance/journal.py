"""The four entries of a journal, and the source they name."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from kubectl_kres.model.objects import ObjectRef


class Source(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """An object and the field in it that a value came from. An empty ``field`` means the object as a whole."""

    kind: str
    name: str
    namespace: str = ""
    field: str = ""

    def __str__(self) -> str:
        """``LimitRange/limits spec.limits[0].max[cpu]``."""
        return f"{self.kind}/{self.name} {self.field}".rstrip()

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef(self.kind, self.name, self.namespace)

    def at_path(self, field: str) -> Source:
        """Return the same object, another field."""
        return Source(self.kind, self.name, self.namespace, field)


class Term(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A part that a derived value was made from; ``kept`` is False where a larger one won."""

    path: str
    value: str
    kept: bool = True


class Set(Struct, frozen=True, tag="set", omit_defaults=True, rename="camel"):
    """A rule gave a field a value. ``before`` absent: there was none; ``after`` absent: the value was dropped."""

    path: str
    rule: str
    after: str | None = None
    before: str | None = None
    source: Source | None = None


class Derive(Struct, frozen=True, tag="derive", omit_defaults=True, rename="camel"):
    """A value follows from others: a sum, a maximum, a QoS class."""

    path: str
    rule: str
    value: str
    terms: tuple[Term, ...] = ()
    source: Source | None = None


class Check(Struct, frozen=True, tag="check", omit_defaults=True, rename="camel"):
    """A rule compared and passed or refused. ``message`` is the server's sentence where it refused."""

    path: str
    rule: str
    passed: bool
    observed: str = ""
    bound: str = ""
    message: str = ""
    source: Source | None = None


class Assumption(Struct, frozen=True, tag="assume", omit_defaults=True, rename="camel"):
    """Something could not be known and was supposed; ``code`` is stable, ``text`` is for people.

    ``source``: the object that it is about, where there is one. ``decisive``: it may turn the answer, so that the
    shortest one says it, too.
    """

    path: str
    code: str
    text: str
    source: Source | None = None
    decisive: bool = False


def decisive_texts(assumptions: Iterable[Assumption]) -> list[str]:
    """Return what may turn an answer, each once."""
    return list(dict.fromkeys(item.text for item in assumptions if item.decisive))


Entry = Set | Derive | Check | Assumption
Journal = tuple[Entry, ...]


def is_own_rule(rule: str) -> bool:
    """Return whether a rule looks at nothing but the manifest, which its reader has at hand."""
    return rule.startswith(("manifest/", "defaulting/", "pod-level/", "quantity/", "qos/"))


def by_path(journal: Iterable[Entry]) -> dict[str, Journal]:
    """Return the entries about each path, in order."""
    result: dict[str, list[Entry]] = {}
    for entry in journal:
        result.setdefault(entry.path, []).append(entry)
    return {path: tuple(entries) for path, entries in result.items()}


def replay(values: dict[str, str], journal: Iterable[Entry]) -> dict[str, str]:
    """Return the values after every ``Set`` of the journal was applied to ``values``."""
    now = dict(values)
    for entry in journal:
        if isinstance(entry, Set):
            if entry.after is None:
                now.pop(entry.path, None)
            else:
                now[entry.path] = entry.after
    return now


class QuotaShortfall(Struct, frozen=True):
    """What one pod asks of a quota that has less even when nothing else runs. Amounts as the quota writes them."""

    quota: str
    resource: str
    requested: str
    hard: str
