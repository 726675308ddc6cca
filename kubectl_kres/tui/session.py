"""The state that all screens share: the store and its feed, the frame of the question, sums of pods, the last hour of
quotas.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubectl_kres.admission.base.server import Server
from kubectl_kres.cluster.watch.feed_state import FeedState
from kubectl_kres.model.kinds import BY_KIND, Kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.qos.qos_report import QosAnswers
from kubectl_kres.reports.qos.qos_sums import AlikeAmounts, NamespaceSums, SumCollector
from kubectl_kres.store.store import Changes, ReadRequest, Store
from kubectl_kres.tui.data_feed import DataFeed
from kubectl_kres.tui.table.row_texts import Selector

if TYPE_CHECKING:
    from kubectl_kres.tui.whatif import WhatIf


_CHUNK = 50
#: The digits go to namespaces, and commands name them, on every screen.
NAMESPACES = ReadRequest("Namespace", required=False)


class Adder:
    """Sums by namespace. What changed is added up again, namespace by namespace."""

    def __init__(self, store: Store) -> None:
        self.done: dict[str, NamespaceSums] = {}
        self._store = store
        self._waiting_namespaces: dict[str, None] = {}
        self._namespace = ""
        self._work: Iterator[NamespaceSums | None] | None = None

    @property
    def busy(self) -> bool:
        return self._work is not None or bool(self._waiting_namespaces)

    def touch(self, refs: Iterable[ObjectRef]) -> None:
        """Pods that came, changed or went."""
        for ref in refs:
            if ref.kind == "Pod":
                self._waiting_namespaces[ref.namespace] = None

    def step(self, server: Server, seconds: float) -> set[str]:
        """Adds up for a while; the namespaces whose sums are new."""
        finished: set[str] = set()
        end = perf_counter() + seconds
        while perf_counter() < end and self.busy:
            if self._work is None:
                self._namespace = next(iter(self._waiting_namespaces))
                self._waiting_namespaces.pop(self._namespace)
                self._work = self._sum_pods(self._namespace, server)
            namespace_sums = next(self._work, None)
            if namespace_sums is not None:
                self._work = None
                self.done[self._namespace] = namespace_sums
                finished.add(self._namespace)
        return finished

    def _sum_pods(self, namespace: str, server: Server) -> Iterator[NamespaceSums | None]:
        collector = SumCollector(server)
        for count, pod in enumerate(list(self._store.all("Pod", namespace)), 1):
            if isinstance(pod, Pod):
                collector.add(pod)
            if count % _CHUNK == 0:
                yield None
        yield next(
            (namespace_sums for namespace_sums in collector.sums() if not namespace_sums.total),
            NamespaceSums(namespace),
        )


#: Seconds that are kept, and changes of one quota at most.
KEPT = 3600.0
_MOST = 720
_LEVELS, _ASCII = "▁▂▃▄▅▆▇█", "_.-=+*%#"
#: What a figure beyond its hard is drawn as, and a time before anything was seen.
_OVER, _UNSEEN = "!", " "


class Sample(Struct, frozen=True):
    """What was seen at ``time`` seconds: the percentage of the tightest name, absent where its hard is zero."""

    time: float
    percent: int | None
    over: bool
    hard: tuple[tuple[str, str], ...]


class Trends:
    """The samples of every quota that was looked at; older ones than an hour go, but for the one that still holds."""

    def __init__(self) -> None:
        self._samples: dict[ObjectRef, deque[Sample]] = {}

    def note(self, ref: ObjectRef, sample: Sample) -> None:
        """Keep what is seen now."""
        samples = self._samples.setdefault(ref, deque(maxlen=_MOST))
        samples.append(sample)
        while len(samples) > 1 and samples[1].time < sample.time - KEPT:
            samples.popleft()

    def forget(self, ref: ObjectRef) -> None:
        """The quota is gone."""
        self._samples.pop(ref, None)

    def sparkline(self, ref: ObjectRef, now: float, cells: int, *, ascii_only: bool) -> str:
        """``cells`` characters of an hour, the last one now; empty where nothing has changed yet."""
        samples = self._samples.get(ref)
        if samples is None or len(samples) < 2:
            return ""
        step = KEPT / cells
        return "".join(
            _format_sample(self._sample_at(samples, now - step * back), ascii_only=ascii_only)
            for back in reversed(range(cells))
        )

    def hard_changes(self, ref: ObjectRef, now: float) -> Iterator[tuple[float, str, str, str]]:
        """Seconds ago, name, hard before and after; the latest first. A name that came or went has an empty text."""
        samples = list(self._samples.get(ref, ()))
        for before, after in zip(reversed(samples[:-1]), reversed(samples[1:]), strict=True):
            old, new = dict(before.hard), dict(after.hard)
            for name in sorted(old.keys() | new.keys()):
                if old.get(name) != new.get(name):
                    yield now - after.time, name, old.get(name, ""), new.get(name, "")

    @staticmethod
    def _sample_at(samples: deque[Sample], time: float) -> Sample | None:
        """Return the last sample up to a moment; None: nothing had been seen yet."""
        return next((sample for sample in reversed(samples) if sample.time <= time), None)


def _format_sample(sample: Sample | None, *, ascii_only: bool) -> str:
    if sample is None:
        return _UNSEEN
    if sample.over:
        return _OVER
    levels = _ASCII if ascii_only else _LEVELS
    return levels[min(len(levels) - 1, (sample.percent or 0) * len(levels) // 101)]


#: Kinds whose objects change what admission says.
_POLICIES = frozenset({"LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass"})
_DIGITS = 9
T = TypeVar("T")


class SnapshotView(Struct, frozen=True):
    """A snapshot of several of one cluster. ``words``: which, for people. ``earlier``, ``later``: a session on the one
    before or behind it; they raise UsageError where there is none, SnapshotError where it cannot be read.
    """

    words: str
    earlier: Callable[[], Session]
    later: Callable[[], Session]


class Setting(Struct, frozen=True):
    """What the command line decided.

    ``server``: the server for a ``gitVersion``, and what is supposed about it. ``now``: the moment, as RFC 3339;
    ``clock``: the same in seconds of the feed's. ``version``: the server's, once it has said so.
    ``candidate_namespaces``: the namespaces that hold an object of a name, if that is known before anything is read.
    ``flags``: what a command needs to see the same objects, as ``--demo``. ``read_yaml``: as in EvaluationOptions.
    ``live``: the store changes by itself. ``aliases``, ``hotkeys``: the user's words and keys for commands;
    ``columns``: of lists, their names on screen. ``contexts``: those of the kubeconfig; ``switch``: a session on one of
    them, raises ConfigError. ``snapshot_view``: where the snapshot stands in time, if there are several.
    """

    server: Callable[[str], tuple[Server, tuple[str, ...]]]
    now: Callable[[], str]
    selector: Selector
    clock: Callable[[], float] = monotonic
    version: Callable[[], str] = str
    candidate_namespaces: Callable[[Kind, str], tuple[str, ...]] | None = None
    assumptions: tuple[str, ...] = ()
    flags: str = ""
    read_yaml: Callable[[str], Any] = json.loads
    ascii_only: bool = False
    aliases: Mapping[str, str] = {}
    hotkeys: Mapping[str, str] = {}
    columns: Mapping[str, Sequence[str]] = {}
    live: bool = False
    contexts: Callable[[], tuple[str, ...]] = tuple
    switch: Callable[[str], Session] | None = None
    snapshot_view: SnapshotView | None = None


class Session:
    """Belongs to the app's loop alone."""

    def __init__(self, store: Store, feed: DataFeed, setting: Setting, namespace: str = "") -> None:
        self.store, self.feed, self.setting = store, feed, setting
        self.namespace = namespace
        #: When it began to ask, by the clock of the setting.
        self.began = setting.clock()
        #: Whether nobody has seen the first screen yet.
        self.greets = True
        self.recent: list[str] = [namespace] if namespace else []
        self.adder = Adder(store)
        self.trends = Trends()
        self.policies = 0
        #: The change that led to this state; None: it is as it was read.
        self.what_if: WhatIf | None = None
        self._server: tuple[str, Server, tuple[str, ...]] | None = None
        self._row_cache: dict[ObjectRef, tuple[Any, Any]] = {}
        self._options: EvaluationOptions | None = None
        self._brief: QosAnswers | None = None
        self._amounts: AlikeAmounts | None = None
        self._value_cache: dict[tuple[Any, tuple[str, ...]], tuple[tuple[int, ...], Any]] = {}

    @property
    def server(self) -> Server:
        return self._find_server()[1]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what is supposed about the server: that its version has the rules of another one."""
        return self._find_server()[2]

    @property
    def evaluation_options(self) -> EvaluationOptions:
        """The frame of every question, at this moment."""
        _, server, assumptions = self._find_server()
        now = self.setting.now()
        if self._options is None or self._options.now != now or self._options.server is not server:
            # The same one for the same moment: reports keep what they looked up by it.
            self._options = EvaluationOptions(
                server, (*self.setting.assumptions, *assumptions), now, self.setting.read_yaml
            )
        return self._options

    def _find_server(self) -> tuple[str, Server, tuple[str, ...]]:
        version = self.store.origin.version
        if self._server is None or self._server[0] != version:
            self._server = (version, *self.setting.server(version))
        return self._server

    @property
    def brief(self) -> QosAnswers:
        """Answers for many pods, as of the policies that are known now."""
        if self._brief is None:
            self._brief = QosAnswers(self.store, self.evaluation_options)
        return self._brief

    @property
    def amounts(self) -> AlikeAmounts:
        """Return what pods count for."""
        if self._amounts is None or self._amounts.server is not self.server:
            self._amounts = AlikeAmounts(self.server)
        return self._amounts

    def cache_by_kinds(self, kinds: tuple[str, ...], make: Callable[[Store], T]) -> T:
        """Return what is made of all objects of some kinds, made anew only once one of them has changed."""
        stamp = self.store.revision(*kinds)
        outcome = self._value_cache.get((make, kinds))
        if outcome is None or outcome[0] != stamp:
            outcome = self._value_cache[make, kinds] = (stamp, make(self.store))
        result: T = outcome[1]
        return result

    def cached(self, ref: ObjectRef, item: Any, make: Callable[[], T]) -> T:
        """Return what is made of an object alone, made anew only once it is another one."""
        outcome = self._row_cache.get(ref)
        if outcome is None or outcome[0] is not item:
            outcome = self._row_cache[ref] = (item, make())
        result: T = outcome[1]
        return result

    def request_reads(self, reads: Iterable[ReadRequest]) -> None:
        """What the screens on the way depend on; all else is read no more."""
        self.feed.request_reads(dict.fromkeys(map(single_read_request, reads)))

    def drain(self) -> Changes:
        """Take in what arrived."""
        changes = self.feed.drain(self.store)
        if not self.store.origin.version and (version := self.setting.version()):
            self.store.origin = replace(self.store.origin, version=version)
        if changes:
            if not _POLICIES.isdisjoint(changes.kinds):
                self._brief = None
                self.policies += 1
            for ref in changes.removed:
                self._row_cache.pop(ref, None)
                self.trends.forget(ref)
            self.adder.touch((*changes.added, *changes.changed, *changes.removed))
        return changes

    def visit(self, namespace: str) -> None:
        """The namespace that lists are of from now on; empty: all."""
        self.namespace = namespace
        if namespace and namespace not in self.recent[:_DIGITS]:
            self.recent = [namespace, *self.recent][:_DIGITS]

    def digits(self) -> tuple[str, ...]:
        """Return the namespaces behind the keys 1 to 9: the last used, then by name."""
        fromkeys = dict.fromkeys(self.recent)
        for namespace in self.store.all("Namespace"):
            if len(fromkeys) >= _DIGITS:
                break
            fromkeys[namespace.metadata.name] = None
        return tuple(fromkeys)[:_DIGITS]

    def command(self, words: str, namespace: str | None = None) -> str:
        """Return what prints the same. ``namespace`` empty: of all."""
        if self.what_if is not None:
            # Other commands would print what is.
            words, namespace = self.what_if.flags, None
        namespace_flag = "" if namespace is None else f" -n {namespace}" if namespace else " -A"
        flags = f" {self.setting.flags}" if self.setting.flags else ""
        return f"kubectl kres {words}{namespace_flag}{flags}"

    def unread_requests(self, reads: Iterable[ReadRequest]) -> Iterator[tuple[ReadRequest, FeedState]]:
        """The needs that have not been read whole yet. What a reader has heard is read once it stands in the store."""
        states: Mapping[ReadRequest, FeedState] = self.feed.states()
        for read in reads:
            state = states.get(single_read_request(read))
            if state is None:
                continue
            under_way = not state.has_objects and state.phase in {"connecting", "listing", "retrying"}
            if under_way or self.is_undecided(read):
                yield read, state

    def is_reading(self, reads: Iterable[ReadRequest]) -> bool:
        """Return whether some of that is on its way; what failed and is tried again is not."""
        return any(state.phase != "retrying" for _, state in self.unread_requests(reads))

    def is_undecided(self, read: ReadRequest) -> bool:
        """Return whether the store knows neither the objects of a read nor why there are none, and will."""
        state = self.feed.states().get(single_read_request(read))
        # A snapshot without a kind ends with nothing known of it.
        ended = state is not None and state.phase == "failed"
        return not ended and self.store.covered(single_read_request(read)).state == "unread"

    def subject(self, ref: ObjectRef) -> Subject:
        return Subject(ref, BY_KIND[ref.kind])

    def get(self, ref: ObjectRef) -> Any | None:
        return self.store.get(ref.kind, ref.name, ref.namespace)


def is_connecting(session: Session) -> bool:
    """Return whether another context could be chosen while nothing has been heard from this one."""
    states = list(session.feed.states().values())
    silent = bool(states) and not any(state.answered_at for state in states)
    return silent and session.setting.switch is not None


def single_read_request(read: ReadRequest) -> ReadRequest:
    """The need as it is read: once, whether an answer depends on it or only gains by it."""
    return read if read.required else replace(read, required=True)
