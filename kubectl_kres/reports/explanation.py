"""The answer of ``explain``: structs that the text, JSON and screens are made from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from kubectl_kres.admission.outcome import Cause, Finding, QuotaCharge
from kubectl_kres.admission.qos import QoS
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.provenance.journal import Assume, Derive, Journal, Source
from kubectl_kres.reports.capsule.pool_trail import PoolTrail
from kubectl_kres.reports.record import Record
from kubectl_kres.reports.replicas import Replicas
from kubectl_kres.reports.tekton.part import TektonPart


class Edit(Record, frozen=True):
    """Who last wrote a field: the field manager, how (Apply or Update) and when (RFC 3339, may be empty)."""

    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"time"})

    manager: str
    operation: str = ""
    time: str = ""


class Alternative(Record, frozen=True):
    """Another value that the server's arbitrary order of LimitRanges can lead to, or Tekton's (``listed``)."""

    value: str
    rule: str = ""
    source: Source | None = None
    order: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()


class Value(Record, frozen=True):
    """One request or limit. ``written`` absent: nobody wrote it; ``value`` absent: nothing is stored.

    ``value`` is what admission would store today; ``live`` what a live pod has, where there is one. ``rule`` and
    ``source`` set ``value``. ``alternatives``: values under other orders (then ``value`` is one of several).
    ``note``: why ``live`` differs from ``value``.
    """

    path: str
    side: str
    resource: str
    written: str | None = None
    value: str | None = None
    live: str | None = None
    rule: str = ""
    source: Source | None = None
    alternatives: tuple[Alternative, ...] = ()
    steps: Journal = ()
    note: str = ""
    edited: Edit | None = None


class Container(Record, frozen=True):
    """A container, init container, sidecar or the pod level (``role`` pod) with its values."""

    name: str
    role: str
    path: str
    values: tuple[Value, ...]
    note: str = ""


class Total(Record, frozen=True):
    """The pod's effective figure of one resource; ``of`` says how it came about."""

    side: str
    resource: str
    value: str
    of: Derive


class QuotaCost(Record, frozen=True):
    """What one more pod costs a quota, per name that the quota limits.

    ``counted``: this pod is live and already in ``used``. ``fits``: how many more such pods there is room for;
    None: it costs nothing, or the quota demands something that the pod does not state.
    ``exceeded``: the names that one more pod would be too much for.
    """

    quota: str
    charge: QuotaCharge
    counted: bool = False
    fits: int | None = None
    exceeded: tuple[str, ...] = ()


class Demand(Record, frozen=True):
    """The must-specify rule of one quota: what every container must state, and what no LimitRange fills in.

    ``lacking``: the containers of the pod at hand that do not state it, by name of the resource.
    """

    quota: str
    names: tuple[str, ...]
    unfilled: tuple[str, ...] = ()
    lacking: Mapping[str, tuple[str, ...]] = {}


#: What controllers and the event recorder put before the server's sentence, and names that are new with each try.
_PREFIX = re.compile(r"^(\(combined from similar events\): )?(Error creating: )?")
_NEW_NAME = re.compile(r'pods? "[^"]*"')


def gist(text: str) -> str:
    """The text without what differs between two tries to create the same pod."""
    return _NEW_NAME.sub("pods", _PREFIX.sub("", text))


class Fact(Record, frozen=True):
    """Something the cluster says: an event, a condition, a container state. ``time`` RFC 3339, may be empty."""

    ORDERED: ClassVar[bool] = False

    reason: str
    text: str
    source: Source
    time: str = ""
    count: int = 1

    def steady(self) -> tuple[Any, ...]:
        """The same said again, about another try, is the same."""
        return self.reason, gist(self.text), self.source


class Verdict(Record, frozen=True):
    """Whether the pod is admitted; ``allowed`` None: that depends on the order of LimitRanges or quotas.

    ``outcome``: the answer for scripts, all of it in one word. ``allowed`` is what follows from what could be read:
    where that was not all that bears on it, the word ends in as-far-as-seen, and what was not read may make it the
    opposite.
    ``message`` and ``causes`` are the server's own words of a refusal, ``findings`` what stands behind them; a finding
    without a text shares that of one before.
    """

    allowed: bool | None
    code: int
    message: str = ""
    reason: str = ""
    causes: tuple[Cause, ...] = ()
    findings: tuple[Finding, ...] = ()
    others: tuple[str, ...] = ()
    outcome: Literal[
        "", "admitted", "refused", "depends-on-order", "admitted-as-far-as-seen", "refused-as-far-as-seen"
    ] = ""


class Unseen(Record, frozen=True):
    """What could not be read, and the server's words. ``required``: the answer is partial without it."""

    kind: str
    state: str
    namespace: str = ""
    name: str = ""
    message: str = ""
    required: bool = True


class Explanation(Record, frozen=True):
    """Why a pod, or the next pod of a workload, gets the resources it gets.

    ``start``: which manifest admission starts from. ``replicas``: the pods of a workload that exists. ``live``: the pod
    exists, and its values stand beside today's. ``certain`` False: values depend on the order of LimitRanges, and the
    figures are then those of ``order`` and, in Tekton, of ``listed``. ``complete`` False: something the answer needs
    could not be read. With ``-c`` or ``--for`` there are no more containers and values than were asked for, the
    verdict, and what these depend on.
    """

    subject: ObjectRef
    start: str
    verdict: Verdict
    remedies: tuple[str, ...]
    containers: tuple[Container, ...] = ()
    totals: tuple[Total, ...] = ()
    qos: QoS | None = None
    qos_alternatives: tuple[str, ...] = ()
    replicas: Replicas | None = None
    live: bool = False
    live_qos: str = ""
    quotas: tuple[QuotaCost, ...] = ()
    demands: tuple[Demand, ...] = ()
    facts: tuple[Fact, ...] = ()
    warnings: tuple[str, ...] = ()
    assumptions: tuple[Assume, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    edits: Mapping[str, Edit] = {}
    overhead: Mapping[str, str] = {}
    pools: tuple[PoolTrail, ...] = ()
    certain: bool = True
    order: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    complete: bool = True
    journal: Journal = ()
    tekton: TektonPart | None = None
