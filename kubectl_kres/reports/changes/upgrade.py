"""The answers that differ under another version of Kubernetes: about workloads, quotas and policies, and which change
causes it.

Nothing is stored anew by an upgrade: pods that exist stay as they are. What changes is the answer to the next pod, what
quotas count, and which policies can be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import CHANGES, changes_between
from kubectl_kres.admission.quota.usage_drift import recount
from kubectl_kres.errors import KresError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, Subject
from kubectl_kres.reports.explain.explain import analysis_of
from kubectl_kres.reports.pod.resource_view import values_of
from kubectl_kres.reports.quota.usage_tree import objects_of, read_whole
from kubectl_kres.store.store import Store

Effect = Literal["refused", "admitted", "class", "values", "quota", "message"]
#: The worst first: pods that are lost, then what is counted or stored otherwise, last what gets better.
ORDER: tuple[Effect, ...] = ("refused", "quota", "class", "values", "message", "admitted")


class UpgradeChange(Record, frozen=True):
    """One object with another answer. ``before``, ``after``: the answers in words; ``reasons``: names of changes.

    ``effect``: what is different about it: it is refused, a quota counts differently, its pods get another QoS class,
    other values, another message, or are admitted now. ``values``: path, then what is stored before and after.
    """

    subject: ObjectRef
    effect: Effect
    before: str
    after: str
    values: tuple[tuple[str, str, str], ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Return whether something that was admitted is refused afterwards."""
        return self.effect == "refused"


class UpgradeReport(Record, frozen=True):
    """The answers that differ after the upgrade, the worst first.

    ``objects``: how many workloads, pods and quotas were looked at. ``elsewhere``: names of changes between the
    versions that no object here shows.
    """

    before: str
    after: str
    objects: int = 0
    workloads: tuple[UpgradeChange, ...] = ()
    quotas: tuple[UpgradeChange, ...] = ()
    policies: tuple[UpgradeChange, ...] = ()
    elsewhere: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True

    @property
    def outcome(self) -> str:
        """The result: ``worse`` if anything that was admitted is not any more, ``other`` if anything differs, else
        ``none``.
        """
        changes = (*self.workloads, *self.quotas, *self.policies)
        return "worse" if any(change.is_worse for change in changes) else "other" if changes else "none"


class SpaceChanges(Struct, frozen=True):
    """The differences in one namespace. ``looked_at``: workloads and quotas."""

    workloads: tuple[UpgradeChange, ...]
    quotas: tuple[UpgradeChange, ...]
    policies: tuple[UpgradeChange, ...]
    looked_at: int


def changes_in(
    store: Store, namespace: str, subjects: Sequence[Subject], options: EvaluationOptions, new: Server
) -> SpaceChanges:
    """Return the differences in a namespace between the server of ``options`` and ``new``."""
    later = structs.replace(options, server=new)
    before = [_answers(store, subject, options) for subject in subjects]
    after = [_answers(store, subject, later) for subject in subjects]
    workloads = [
        _workload(store, subject, later, *pair)
        for subject, *pair in zip(subjects, before, after, strict=True)
        if _keys(pair[0]) != _keys(pair[1])
    ]
    quotas = tuple(store.all("ResourceQuota", namespace)) if namespace else ()
    return SpaceChanges(
        tuple(workloads), tuple(_quotas(store, namespace, options, later)), tuple(_policies(before, after)),
        len(subjects) + len(quotas),
    )  # fmt: skip


def report_of(
    spaces: Iterable[SpaceChanges],
    old: Server,
    new: Server,
    notes: Sequence[str],
    unread: tuple[FailedRead, ...],
) -> UpgradeReport:
    """Return the report of all namespaces together."""
    listed = list(spaces)
    workloads = _worst_first(change for space in listed for change in space.workloads)
    quotas = _worst_first(change for space in listed for change in space.quotas)
    policies = _worst_first({change.subject: change for space in listed for change in space.policies}.values())
    shown = {name for change in (*workloads, *quotas, *policies) for name in change.reasons}
    pair = sorted((old.version, new.version))
    elsewhere = tuple(name for name, _ in changes_between(*pair) if name not in shown)
    return UpgradeReport(
        _format_version(old), _format_version(new), sum(space.looked_at for space in listed), workloads, quotas,
        policies, elsewhere, tuple(notes), unread, not any(item.required for item in unread),
    )  # fmt: skip


def _format_version(server: Server) -> str:
    return f"{server.version[0]}.{server.version[1]}"


def _worst_first(changes: Iterable[UpgradeChange]) -> tuple[UpgradeChange, ...]:
    return tuple(
        sorted(
            changes, key=lambda change: (ORDER.index(change.effect), change.subject.namespace, change.subject.full_name)
        )
    )


def _answers(store: Store, subject: Subject, options: EvaluationOptions) -> tuple[Outcome, ...]:
    """Return every answer to the next pod, none where there can be none."""
    try:
        return analysis_of(store, subject, options, journal=False).outcomes
    except (KresError, Unparsable):
        return ()


def _keys(outcomes: Iterable[Outcome]) -> frozenset[str]:
    """Return a set of texts that tells the answers apart."""
    return frozenset(
        repr((
            outcome.allowed, outcome.code, outcome.message, outcome.causes, outcome.warnings,
            dict(outcome.object or {}), [(charge.quota, dict(charge.requested)) for charge in outcome.charges],
        ))
        for outcome in outcomes
    )  # fmt: skip


def _workload(
    store: Store, subject: Subject, later: EvaluationOptions, before: Sequence[Outcome], after: Sequence[Outcome]
) -> UpgradeChange:
    keys = _keys(after)
    values = tuple(_value_changes(before, after))
    classes = [_classes(outcomes) for outcomes in (before, after)]
    admitted = [any(outcome.allowed for outcome in outcomes) for outcomes in (before, after)]
    refused = [any(not outcome.allowed for outcome in outcomes) for outcomes in (before, after)]
    effect: Effect
    if refused[1] and not refused[0]:
        effect = "refused"
    elif admitted[1] and not admitted[0]:
        effect = "admitted"
    elif classes[0] != classes[1]:
        effect = "class"
    else:
        effect = "values" if values else "message"
    reasons = _causes(later.server, lambda server: _keys(_answers(store, subject, _set_server(later, server))), keys)
    return UpgradeChange(subject.ref, effect, _format_answers(before), _format_answers(after), values, reasons)


def _set_server(options: EvaluationOptions, server: Server) -> EvaluationOptions:
    return structs.replace(options, server=server)


def _causes(new: Server, answer: Callable[[Server], object], keys: object) -> tuple[str, ...]:
    """Return the changes without which the answer would be another one."""
    names = [name for name, change in CHANGES.items() if change.minor <= new.version[1] and new.has_change(name)]
    return tuple(
        name for name in names if answer(structs.replace(new, disabled_changes=new.disabled_changes | {name})) != keys
    )


def _classes(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    stored = [((outcome.object or {}).get("status") or {}).get("qosClass", "") for outcome in outcomes]
    return tuple(sorted({name for name in stored if name}))


def _format_answers(outcomes: Sequence[Outcome]) -> str:
    """Return the answers in one line: the server's words of a refusal, else that it is admitted, and the class."""
    refusals = list(dict.fromkeys(outcome.message for outcome in outcomes if not outcome.allowed))
    admitted = [f"admitted, {', '.join(_classes(outcomes))}".rstrip(", ")] * any(o.allowed for o in outcomes)
    return " or ".join([*admitted, *(f"refused: {text}" for text in refusals)])


def _value_changes(before: Sequence[Outcome], after: Sequence[Outcome]) -> Iterator[tuple[str, str, str]]:
    """Yield values of the stored pod that differ between the leading answers."""
    first, last = (
        next((outcome.object for outcome in side if outcome.object is not None), None) for side in (before, after)
    )
    if first is None or last is None:
        return
    old, new = values_of(first), values_of(last)
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            texts = ["-" if value is None else str(value) for value in (old.get(key), new.get(key))]
            yield ".".join(part for part in map(str, key) if part), texts[0], texts[1]


def _quotas(
    store: Store, namespace: str, options: EvaluationOptions, later: EvaluationOptions
) -> Iterator[UpgradeChange]:
    """Yield the quotas that count existing objects differently."""
    quotas = tuple(store.all("ResourceQuota", namespace)) if namespace else ()
    if not quotas:
        return

    def used_amounts(server: Server) -> list[dict[str, str]]:
        asking = _set_server(options, server)
        objects = read_whole(store, objects_of(store, quotas, namespace, asking), namespace)
        requests = {
            kind: None if counted is None else [item.request for item in counted] for kind, counted in objects.items()
        }
        return [{name: str(value) for name, value in recount(quota, requests, server).items()} for quota in quotas]

    try:
        before, after = used_amounts(options.server), used_amounts(later.server)
    except Unparsable:
        return
    for index, (quota, old, new) in enumerate(zip(quotas, before, after, strict=True)):
        if old == new:
            continue
        names = [name for name in new if old.get(name) != new[name]]
        values = tuple((f"used.{name}", old.get(name, "-"), new[name]) for name in names)
        reasons = _causes(later.server, lambda server, index=index: used_amounts(server)[index], new)  # type: ignore[misc]
        words = [", ".join(f"{name} {side.get(name, '-')}" for name in names) for side in (old, new)]
        yield UpgradeChange(
            ObjectRef("ResourceQuota", quota.metadata.name, namespace), "quota", words[0], words[1], values, reasons
        )


def _policies(before: Sequence[Sequence[Outcome]], after: Sequence[Sequence[Outcome]]) -> Iterator[UpgradeChange]:
    """Yield the policies that refuse pods under one version alone, with how many workloads they are about."""
    sides = [_refusals_by_policy(outcomes) for outcomes in (before, after)]
    for source in sorted({*sides[0], *sides[1]}):
        old, new = (side.get(source, {}) for side in sides)
        if old == new:
            continue
        subject = ObjectRef(*source)
        effect: Effect = "refused" if len(new) > len(old) else "admitted" if len(old) > len(new) else "message"
        words = [_refusals(side) for side in (old, new)]
        reasons = ("policy/list-of-objects",) if any(rule == "policy/no-answer" for rule, _ in old.values()) else ()
        yield UpgradeChange(subject, effect, words[0], words[1], (), reasons)


def _refusals_by_policy(answers: Sequence[Sequence[Outcome]]) -> dict[tuple[str, str], dict[int, tuple[str, str]]]:
    """Return, by policy, the workloads that it refuses, by their place, with rule and text."""
    result: dict[tuple[str, str], dict[int, tuple[str, str]]] = {}
    for index, outcomes in enumerate(answers):
        for finding in (finding for o in outcomes if o.refusal is not None for finding in o.refusal.findings):
            if finding.source is not None and finding.rule.startswith("policy/"):
                key = (finding.source.kind, finding.source.name)
                result.setdefault(key, {})[index] = (finding.rule, finding.text)
    return result


def _refusals(refused: dict[int, tuple[str, str]]) -> str:
    if not refused:
        return "refuses nothing"
    rule, text = next(iter(refused.values()))
    verb = "drops the connection" if rule == "policy/no-answer" else f"refuses: {text}"
    return f"{verb} ({len(refused)} workload{'s' * (len(refused) > 1)})"
