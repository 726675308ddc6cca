"""The four entries of a journal, and the source they name.

Why there is no pod, in the words of whoever says so: data that a report can print.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

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
    """Something could not be known and was supposed; ``code`` is stable, ``text`` is for people."""

    path: str
    code: str
    text: str


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


Stage = Literal["object", "validation", "reconcile", "create"]


class MessageFault(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A fault that a message names: its part of the text, the code of its rule.

    Of a quota that is exceeded also what it calls the resource, what was asked for, what counts beside it, the limit,
    and the quota; empty for other faults.
    """

    text: str
    rule: str
    resource: str = ""
    asked: str = ""
    used: str = ""
    limit: str = ""
    source: Source | None = None


class Problem(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Why there is no pod (yet), in the words of whoever says so.

    stage: ``object`` (the API server refuses the run itself), ``validation`` (a webhook does), ``reconcile`` (the
    controller's checks) or ``create`` (the API server refused the pod). object: the kind concerned. At the first two
    stages there is no run: ``code`` and ``reason`` are those of the answer. At the others ``reason`` and ``status`` are
    of the condition ``Succeeded``. requeue_seconds: when the next try is; 0: there is none. again: tried again at no
    fixed time, with back-off. rule: its code. field,
    observed: what does not decode; empty where the message says it. faults: where rules differ, one for each of them;
    where quotas refuse the object itself, one for each name of theirs that is exceeded.
    """

    stage: Stage
    object: str
    message: str
    rule: str
    reason: str = ""
    status: str = ""
    requeue_seconds: int = 0
    code: int = 0
    field: str = ""
    observed: str = ""
    faults: tuple[MessageFault, ...] = ()
    again: Literal["", "back-off"] = ""

    @property
    def final(self) -> bool:
        """Return whether nothing is tried again (``retries`` apart)."""
        return self.requeue_seconds == 0 and not self.again

    @property
    def text(self) -> str:
        """The message as a client sees it: a webhook's has the webhook's name in front."""
        if self.stage != "validation":
            return self.message
        webhook = "webhook" if self.message.startswith("mutation failed: ") else "validation.webhook"
        return f'admission webhook "{webhook}.pipeline.tekton.dev" denied the request: {self.message}'


class QuotaShortfall(Struct, frozen=True):
    """What one pod asks of a quota that has less even when nothing else runs. Amounts as the quota writes them."""

    quota: str
    resource: str
    requested: str
    hard: str
