"""The four entries of a journal, the source they name, and what an assumption is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Sentence, Wording


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
    text: Wording
    source: Source | None = None
    decisive: bool = False


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


# What an assumption is about. ``ref``: the object, as KIND/NAME.


class OmittedObject(Sentence, frozen=True):
    """An object that answers leave out. ``path``: of a value that does not parse; else the server does not store it.

    ``why``: in its words. ``overhead``: of a RuntimeClass only this is left out.
    """

    ref: str
    why: str
    path: str = ""
    overhead: bool = False


class UnusedQuota(Sentence, frozen=True):
    """A quota of a file, taken as enforced. ``but``: what it counts that every namespace has."""

    ref: str
    but: tuple[str, ...] = ()


class UncountedQuota(Sentence, frozen=True):
    """A quota that has no status yet."""

    ref: str


class UnreadClasses(Sentence, frozen=True):
    """Classes of a kind that could not be read."""

    kind: str


class LiveStart(Sentence, frozen=True):
    """Admission starts from the pod itself. ``maker``: what made it, if anything did.

    ``unread``: that could not be read; else it was not found. ``filled``: what LimitRanges filled in is left out.
    """

    maker: str = ""
    unread: bool = False
    filled: bool = False


class GateState(Sentence, frozen=True):
    """A feature gate whose setting nobody gave. ``state`` absent: the version has none."""

    gate: str
    state: Literal["absent", "on", "off"]
    version: str


class TakenAsNew(Sentence, frozen=True):
    """An object of a file that could not be looked up. ``counted``: a quota only counts it."""

    ref: str
    counted: bool = False


class ClaimsTakenAsNew(Sentence, frozen=True):
    """The claims of a StatefulSet's next pod, as they could not be read."""


class ExistsAlready(Sentence, frozen=True):
    """An object of a file that the cluster has. ``resource``: its kind as the server calls it; empty: only counted."""

    ref: str
    resource: str = ""


class UncheckedFile(Sentence, frozen=True):
    """The server checks a few things of an object that are not checked here."""


class WithoutWebhooks(Sentence, frozen=True):
    """Webhooks add containers to new pods, which the figures do not have."""

    containers: tuple[str, ...]


class NeedsScopedQuota(Sentence, frozen=True):
    """Google's servers take pods of a PriorityClass only where a quota has it in its scope."""

    priority_class: str


class GivenStorageClass(Sentence, frozen=True):
    """The storage class that a claim gets. ``named``: the one that it names; None: none.

    ``source``: who gives it; empty: it is the default one.
    """

    given: str
    named: str | None = None
    source: str = ""
