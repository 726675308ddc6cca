"""The list of pods: QoS class and amounts of each, and what admission says about it now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter

from msgspec import Struct

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.render.pod.qos import quality_lines, short
from kubectl_kres.render.text.line import Line, Tone, age_text, led_lines
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.pod.events import not_running_reason, pod_facts
from kubectl_kres.reports.qos.qos_open import missing_limits
from kubectl_kres.reports.qos.qos_reach import CLASSES
from kubectl_kres.reports.qos.qos_report import PodQos
from kubectl_kres.reports.qos.qos_sums import PodAmounts
from kubectl_kres.reports.quota.usage_tree import workload_of
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import (
    Costly,
    FirstOrder,
    Listing,
    ListRows,
    RowSearch,
    RowSource,
    RowSubject,
    Wording,
)
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column
from kubectl_kres.tui.table.row_order import RowKey

_KIND = BY_KIND["Pod"]
_TONES: Mapping[str, Tone] = {"BestEffort": "warn"}
#: Tones of states, the worst first.
_WORST: Sequence[Tone] = ("bad", "warn", "", "quiet")


class _Computed(Struct, eq=False, gc=False):
    """The computed values of a pod. ``stamp``: the policies that they were computed with."""

    amounts: PodAmounts | None = None
    quality: PodQos | None = None
    stamp: int = -1
    fault: str = ""


class PodRow(Struct, eq=False, gc=False):
    """The row of a pod. Its values are computed when they are first needed.

    A row is in no reference cycle, so that the garbage collector can ignore a hundred thousand rows.
    """

    _session: Session
    pod: Pod
    _computed: _Computed | None = None

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef("Pod", self.pod.metadata.name, self.pod.metadata.namespace)

    @property
    def _computed_values(self) -> _Computed:
        """Return the computed values, which most rows never get."""
        if self._computed is None:
            self._computed = _Computed()
        return self._computed

    @property
    def computed_amounts(self) -> PodAmounts | None:
        """Return the amounts of the pod if they were computed."""
        return self._computed.amounts if self._computed is not None else None

    @property
    def amounts(self) -> PodAmounts:
        """Return the amounts of the pod."""
        computed = self._computed_values
        if computed.amounts is None:
            computed.amounts = self._session.amounts.amounts_of(self.pod)
        return computed.amounts

    def ready(self, what: str) -> bool:
        """Return whether a column, or the fault, is computed."""
        if "." in what:
            return self.computed_amounts is not None
        return what not in {"why", "fault"} or (
            self._computed is not None and self._computed.stamp == self._session.policies
        )

    def prepare(self, what: str) -> None:
        """Compute what a column, or the fault, needs."""
        _ = self.amounts if "." in what else self.quality

    @property
    def quality(self) -> PodQos | None:
        """Return the QoS report under the present policies; None if there is none, as ``fault`` says."""
        computed = self._computed_values
        if computed.stamp != self._session.policies:
            computed.stamp, computed.fault = self._session.policies, ""
            try:
                computed.quality = self._session.brief.quality(Subject(self.ref, _KIND))
            except KresError as error:
                computed.quality, computed.fault = None, error.message
        return computed.quality

    def amount(self, side: str, resource: str) -> str | None:
        values = self.amounts.requests if side == "requests" else self.amounts.limits
        return str(values[resource]) if resource in values else None

    def reason(self) -> str:
        """Return what decides the class, or what is wrong, in a few words."""
        quality = self.quality
        if quality is None:
            return self._computed_values.fault or "a quantity does not parse"
        return short(quality)


def _text(side: str, resource: str) -> Callable[[PodRow], str]:
    return lambda row: row.amount(side, resource) or "-"


def _rank(side: str, resource: str) -> Callable[[PodRow], int | None]:
    amounts_of = attrgetter(side)

    def rank(row: PodRow) -> int | None:
        pod_amounts = row.computed_amounts
        if pod_amounts is None:
            return None
        amount = amounts_of(pod_amounts).get(resource)
        # What is missing is less than anything that is there.
        return amount.nano if amount is not None else -1

    return rank


def _amount_column(side: str, resource: str, head: str) -> Column:
    return Column(
        f"{side}.{resource}",
        head,
        _text(side, resource),
        _rank(side, resource),
        # A limit that is missing is what is looked for; memory goes before it does.
        tone=(lambda row: "warn" if resource in missing_limits(row.pod) else "") if side == "limits" else None,
        right=True,
        wide=(side, resource) == ("requests", "memory"),
        most=9,
        searched=False,
        down=True,
    )


def _missing_limit_text(*names: str) -> Callable[[PodRow], str]:
    """Return the text that a filter for missing limits matches: ``none`` if a limit is missing."""
    return lambda row: "none" if any(name in missing_limits(row.pod) for name in names) else "set"


def qos_class(row: PodRow) -> str:
    """Return the stored class; of a pod that has none, the computed one."""
    return row.pod.status.qos_class or row.amounts.qos_class


def _age(row: PodRow) -> str:
    created_at, now = row.pod.metadata.creation_timestamp, row._session.setting.now()  # noqa: SLF001, its own module
    return age_text(created_at or "", now)


def _columns(namespace: str) -> tuple[Column, ...]:
    # Names are lower case by rule. As their own ranks they are read without a call of Python for each row, so quickly
    # that they need not be known before.
    pod_namespace, name, node = map(attrgetter, ("pod.metadata.namespace", "pod.metadata.name", "pod.spec.node_name"))
    return (
        *(() if namespace else (Column("namespace", "NAMESPACE", pod_namespace, pod_namespace),)),
        Column("name", "NAME", name, name, most=56, vital=True),
        Column("qos", "QOS", qos_class, _class_rank, tone=_class_tone, width=10, lasting=True),
        Column("state", "STATE", _state, _row_rank, _state_tone, most=24, lasting=True, vital=True),
        _amount_column("requests", "cpu", "CPU REQ"),
        _amount_column("limits", "cpu", "CPU LIM"),
        _amount_column("requests", "memory", "MEM REQ"),
        _amount_column("limits", "memory", "MEM LIM"),
        Column("age", "AGE", _age, _creation_time, right=True, wide=True, width=5, searched=False, lasting=True),
        Column(
            "why", "WHY QOS", lambda row: row.reason(), _why_rank, wide=True, width=34, searched=False, tone=_why_tone
        ),
        Column("node", "NODE", node, node, wide=True, most=24),
    )


def _class_rank(row: PodRow) -> int:
    shown = qos_class(row)
    return CLASSES.index(shown) if shown in CLASSES else len(CLASSES)


def _class_tone(row: PodRow) -> Tone:
    return _TONES.get(qos_class(row), "")


def _creation_time(row: PodRow) -> float | None:
    """Return the creation time in seconds; numbers sort in a third of the time of texts."""
    try:
        return datetime.fromisoformat(row.pod.metadata.creation_timestamp or "").timestamp()
    except ValueError:
        return None


def _state_reason(row: PodRow) -> str:
    """Return why the pod does not run, or why it ended; empty for a pod that runs normally."""
    return not_running_reason("Pod", row.pod).partition(" (")[0]


def _state(row: PodRow) -> str:
    return _state_reason(row) or row.pod.status.phase


def _row_rank(row: PodRow) -> int:
    """Return the sort key: failed pods first, then pods that do not run as they should."""
    return _WORST.index(_state_tone(row))


def _state_tone(row: PodRow) -> Tone:
    """Return the tone of the state; quiet for a pod that succeeded or is being deleted."""
    phase, trouble = row.pod.status.phase, _state_reason(row)
    if phase == "Failed":
        return "bad"
    return "quiet" if phase == "Succeeded" or trouble == "Terminating" else "warn" if trouble else ""


def _why_rank(row: PodRow) -> str | None:
    return row.reason() if row.ready("why") else None


def _why_tone(row: PodRow) -> Tone:
    return row_sign(row)[1] if row_sign(row)[0] else "quiet"


def row_sign(row: PodRow) -> tuple[str, Tone]:
    """``x``: it has failed, or would be refused today; ``!``: it does not run as it should, or would get another
    class; ``?``: that cannot be said.
    """
    quality, state = row.quality, _state_tone(row)
    if state == "bad" or (quality is not None and quality.refused):
        return "x", "bad"
    if quality is None:
        return "?", "warn"
    return ("!", "warn") if quality.differs or quality.alternatives or state == "warn" else ("", state)


def _list_read_requests(namespace: str) -> tuple[ReadRequest, ...]:
    return (
        ReadRequest("Pod", namespace),
        ReadRequest("LimitRange", namespace),
        ReadRequest("ResourceQuota", namespace),
        ReadRequest("PriorityClass", required=False),
        ReadRequest("RuntimeClass", required=False),
    )


def key(row: PodRow) -> RowKey:
    return row.pod.metadata.namespace, row.pod.metadata.name


def _rows(session: Session, namespace: str) -> ListRows:
    for pod in session.store.all("Pod", namespace or None):
        row = PodRow(session, pod)
        yield key(row), row


def _row(session: Session, ref: ObjectRef) -> tuple[RowKey, PodRow] | None:
    pod = session.get(ref)
    if pod is None:
        return None
    row = PodRow(session, pod)
    return key(row), row


def _detail(session: Session, row: PodRow, width: int) -> Iterator[Line]:
    del session
    quality = row.quality
    tone = _state_tone(row)
    for fact in pod_facts(row.pod):
        yield from led_lines(tone, fact.reason, f": {fact.text}", width)
    if quality is not None:
        yield from quality_lines(quality, width)
    else:
        yield [("warn", row.reason())]


def row_location(row: PodRow) -> Location:
    return Location("object", ref=row.ref)


def owner_of(pod: Pod) -> Location | None:
    """Return the workload or run that made the pod; None for a kind without a screen."""
    kind, _, name = workload_of(pod).partition("/")
    if kind not in BY_KIND or (kind, name) == ("Pod", pod.metadata.name):
        return None
    return Location("object", ref=ObjectRef(kind, name, pod.metadata.namespace))


def _labels(row: PodRow) -> Mapping[str, str]:
    return row.pod.metadata.labels or {}


def _searched_texts(row: PodRow) -> tuple[str, str, str]:
    pod = row.pod
    rest = f"{pod.status.qos_class} {pod.status.phase} {pod.spec.node_name}"
    return pod.metadata.namespace, pod.metadata.name, rest


LISTING = Listing(
    names=("pods", "pod", "po"),
    about="QoS class, requests and limits of pods, and what admission says of them today",
    source=RowSource(
        kinds=("Pod", "LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass"),
        reads=_list_read_requests,
        rows=_rows,
        row=_row,
    ),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(
        ref=lambda row: row.ref,
        opens=row_location,
        owner=lambda row: owner_of(row.pod),
        tabs=("diff", "yaml", "computed"),
    ),
    command=lambda session, namespace: session.command("qos", namespace),
    wording=Wording(runbook="who-changed-my-limits"),
    order=FirstOrder("state", most=20_000),
    search=RowSearch(
        labels=_labels,
        words=_searched_texts,
        fields={
            "limits": _missing_limit_text("cpu", "memory"),
            "limits.cpu": _missing_limit_text("cpu"),
            "limits.memory": _missing_limit_text("memory"),
        },
    ),
    costly=Costly(prepare=lambda row, what: row.prepare(what), ready=lambda row, what: row.ready(what)),
    hints=("suppose", "users", "timeline", "no-limits", "yaml", "explain", "sort-qos", "faults"),
)
