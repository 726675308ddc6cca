"""What the functions return: reports, with the forms that the commands print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from kubectl_kres.reports.common import explanation as reports
    from kubectl_kres.reports.common.unread import UnreadKind
    from kubectl_kres.reports.namespace.policy_explanation import PolicyExplanation
    from kubectl_kres.store.store import Origin, Store

    Explained = reports.Explanation | PolicyExplanation

R = TypeVar("R")
A = TypeVar("A", bound="Answer[Any]")

#: The command that gives the same answer, by the kind of its document.
_COMMANDS = {
    "Explanation": "explain",
    "Qos": "qos",
    "Diff": "diff",
    "Fit": "quota",
    "Quota": "quota",
    "Denied": "quota",
    "Change": "simulate",
    "Check": "check",
}

#: Draws a report, line by line.
Lines = Callable[[Any, int], Iterator[str]]


class Value(NamedTuple):
    """A request or limit. ``written`` None: nobody wrote it; ``value`` None: nothing is stored.

    ``set_by``: the object that it comes from, as ``LimitRange/defaults``; for what was written, and for what follows
    from that, the object itself. ``rule``: the code of the rule, see docs/rules.md. ``live``: what a live pod has.
    """

    written: str | None
    value: str | None
    set_by: str
    rule: str
    live: str | None = None


class Answer(Generic[R]):
    """An answer. ``report`` holds all of it, as a frozen struct; its text is what the command prints."""

    def __init__(self, report: R, kind: str, origin: Origin, lines: Lines, store: Store | None = None) -> None:
        """``store``: what the answer was made from, which knows what could not be read."""
        self.report = report
        self._kind, self._origin, self._lines, self._store = kind, origin, lines, store

    @cached_property
    def _unread(self) -> tuple[UnreadKind, ...]:
        if self._store is None:
            return ()
        from kubectl_kres.reports.common.unread import unread_kinds

        return unread_kinds(self._store, _COMMANDS.get(self._kind, ""))

    @property
    def complete(self) -> bool:
        """False: something that the answer depends on could not be read; ``missing`` says what."""
        return bool(getattr(self.report, "complete", True)) and not any(item.required for item in self._unread)

    @property
    def missing(self) -> tuple[str, ...]:
        """What could not be read, in the server's words where it said any."""
        from kubectl_kres.render.text.sentences import sentence_text

        unread = getattr(self.report, "unread", ())
        texts = [
            sentence_text(item.message) or f"{item.kind} objects of {item.namespace or 'the cluster'}"
            for item in unread
        ]
        named = {item.kind for item in unread}
        texts += [item.message or f"{item.kind} objects" for item in self._unread if item.kind not in named]
        return tuple(dict.fromkeys(texts))

    @property
    def assumed(self) -> str:
        """What is supposed about a server that is older or newer than the rules known here; empty for any other one."""
        from kubectl_kres.admission.base.versions import version_caveat

        return version_caveat(self._origin.version)

    def to_dict(self) -> dict[str, Any]:
        """Return the item of the document that ``-o json`` prints, by ``kubectl kres schema``."""
        import msgspec

        from kubectl_kres.render.text.data import to_json_bytes

        result: dict[str, Any] = msgspec.json.decode(to_json_bytes(self.report))
        return result

    def document(self) -> dict[str, Any]:
        """Return the whole document that ``-o json`` prints."""
        from kubectl_kres.render.text import data

        items = (self.to_dict(),)
        return data.document(self._kind, items, self._origin, complete=self.complete, unread=self._unread)

    def text(self, width: int = 80) -> str:
        """Return what the command prints."""
        return "\n".join(self._lines(self.report, width))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._kind} of {getattr(self.report, 'subject', '')}>"


def missing_kinds(store: Store, command: str) -> tuple[str, ...]:
    """Return what a command asked for, could not read and needs, in the server's words where it said any."""
    from kubectl_kres.reports.common.unread import unread_kinds

    return tuple(item.message or f"{item.kind} objects" for item in unread_kinds(store, command) if item.required)


class Answers(list[A]):
    """The answers about the objects of a list. ``missing``: what of the list itself could not be read."""

    def __init__(self, answers: Iterable[A], missing: tuple[str, ...] = ()) -> None:
        super().__init__(answers)
        self.missing = missing

    @property
    def complete(self) -> bool:
        """False: objects are missing, or something that one of the answers depends on could not be read."""
        return not self.missing and all(answer.complete for answer in self)


class Explanation(Answer["Explained"]):
    """Whether a pod, or the next pod of a workload, is admitted, why, and what set each value.

    Of a claim, a Service or a policy what it costs, allows or gives: there are no values and no QoS class then.
    """

    def to_dict(self) -> dict[str, Any]:
        """As the command prints it without ``--steps``; ``report.journal`` has every step."""
        result = super().to_dict()
        result.pop("journal", None)
        return result

    @property
    def outcome(self) -> str:
        """The whole answer in one word, as ``verdict.outcome`` in JSON; empty for a policy that nothing judges."""
        return self.report.verdict.outcome if self.report.verdict is not None else ""

    @property
    def admitted(self) -> bool | None:
        """None: it depends on the order in which the server goes through LimitRanges or quotas, or it is a policy that
        nothing judges.
        """
        return self.report.verdict.allowed if self.report.verdict is not None else None

    @property
    def refusal(self) -> str:
        """The server's words of the refusal; empty if there is none."""
        return self.report.verdict.message if self.report.verdict is not None else ""

    @property
    def fixes(self) -> tuple[str, ...]:
        """What to change, the smallest first, as text; ``report.fixes`` has more."""
        from kubectl_kres.render.text.sentences import sentence_text

        return tuple(sentence_text(remedy.text) for remedy in self.report.fixes)

    @property
    def qos_class(self) -> str:
        """The QoS class of the next pod; empty where a quantity cannot be parsed, and where there is no pod."""
        qos = getattr(self.report, "qos", None)
        return qos.name if qos is not None else ""

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """Requests and limits by ``CONTAINER.SIDE.RESOURCE``, as ``--for`` takes them: ``app.limits.memory``."""
        return {
            f"{container.name or container.role}.{value.side}.{value.resource}": _value(value)
            for container in getattr(self.report, "containers", ())
            for value in container.values
        }


def _value(resource_value: reports.ResourceValue) -> Value:
    source = resource_value.source
    by = f"{source.kind}/{source.name}" if source is not None and source.name else ""
    return Value(
        resource_value.written,
        resource_value.value,
        by or resource_value.rule.partition("/")[0],
        resource_value.rule,
        resource_value.live,
    )
