"""The list of all that makes pods, with how it fares: what fails or waits first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import POD_MAKERS
from kubectl_kres.render.overview import refusal_causes, short_ref
from kubectl_kres.render.quota.fit import refusal_detail
from kubectl_kres.render.text.line import Line, Tone, age_text, labelled_lines
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.headline import verdict_word
from kubectl_kres.render.verdict.run_state import reason_text, scheduled_text, short, state_sentence
from kubectl_kres.reports.common.explanation import NEGATIVE, RunState
from kubectl_kres.reports.common.system import kinds_of
from kubectl_kres.reports.explain.all_states import PodStates, all_states, scheduled_jobs
from kubectl_kres.reports.quota.denied import Denied, denied_needs, needs_of_systems, refusal_or_none
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import WORST_FIRST, Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column

#: Pods that are looked at before others have their turn.
_PAGE = 200
#: The states, the worst first.
_ORDER = {word: place for place, word in enumerate(("fails", "waits", "starting", "runs", "off", "ended"))}


#: States of workloads of which pods are missing: admission says whether they are refused.
_MISSING = frozenset({"NotCreated", "Refused", "Quota"})


#: The state of a CronJob that is on, whose Jobs have rows of their own, and what it is called.
_BETWEEN_RUNS, _SCHEDULED = RunState("runs"), "scheduled"


class WorkloadRow(Struct, frozen=True):
    """An object, its state, and how long it has been in it; empty: not known. ``denied``: why its pods are refused;
    None: they are not. ``told``: of a CronJob that is on how its Jobs fare, in words.
    """

    ref: ObjectRef
    state: RunState
    age: str
    denied: Denied | None = None
    told: str = ""

    @property
    def pods(self) -> str:
        """Return how many pods are ready of those that are wanted; empty for a single pod or run."""
        return f"{self.state.ready}/{self.state.wanted}" if self.state.wanted else ""

    @property
    def word(self) -> str:
        """Return its state, as lists print it."""
        if self.denied is not None:
            return verdict_word(self.denied.verdict)[0]
        return _SCHEDULED if self.told else short(self.state)[0]

    @property
    def causes(self) -> Sequence[str]:
        """Return why it is in that state, then the same in fewer and fewer words; of what runs nothing."""
        if self.denied is not None and (causes := tuple(refusal_causes(self.denied.verdict))):
            return causes
        return (self.told or reason_text(self.state),)


def _reads(namespace: str) -> tuple[ReadRequest, ...]:
    runs = (ReadRequest(kind, namespace, required=False) for kind in kinds_of("runs"))
    return tuple(dict.fromkeys((ReadRequest("Pod", namespace), *denied_needs(namespace), *runs)))


def _rows(session: Session, namespace: str) -> ListRows:
    now = session.setting.now()
    states = PodStates(session.store, now)
    for count, pod in enumerate(list(session.store.all("Pod", namespace or None))):
        states.add(pod)
        if count % _PAGE == 0:
            yield (), None
    for ref, state in all_states(session.store, namespace, states):
        denied = None
        if _lacks_pods(state):
            denied = _refusal(session, ref)
        yield (ref.namespace, ref.kind, ref.name), WorkloadRow(ref, state, age_text(state.since, now), denied)
    for jobs in scheduled_jobs(session.store, namespace):
        ref, told = jobs.ref, scheduled_text(jobs, now)
        yield (ref.namespace, ref.kind, ref.name), WorkloadRow(ref, _BETWEEN_RUNS, "", _refusal(session, ref), told)


def _refusal(session: Session, ref: ObjectRef) -> Denied | None:
    return refusal_or_none(session.store, session.subject(ref), session.evaluation_options)


def _lacks_pods(state: RunState) -> bool:
    """Return whether pods are missing that nothing but admission explains."""
    return state.reason in _MISSING or (state.state == "starting" and not state.reason)


def _rank(row: WorkloadRow) -> tuple[bool, int, bool, int]:
    state = row.state
    return row.denied is None, _ORDER.get(state.state, len(_ORDER)), not state.reason, -state.pods


def row_sign(row: WorkloadRow) -> tuple[str, Tone]:
    """Return mark and tone: what fails or waits is bad, what was killed lately a warning, what is off is quiet."""
    if row.denied is not None:
        return ("x", "bad") if verdict_word(row.denied.verdict)[1] == "bad" else ("!", "warn")
    if row.state.state in NEGATIVE:
        return "x", "bad"
    if row.state.state == "runs" and row.state.reason:
        return "!", "warn"
    return "", "quiet" if row.state.state in {"off", "ended"} else ""


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.ref.namespace)
    return (
        *(() if namespace else (namespace_column,)),
        Column("name", "NAME", lambda row: short_ref(row.ref), most=48, vital=True),
        Column("pods", "READY", lambda row: row.pods, right=True, width=7),
        Column("state", "STATE", lambda row: row.word, _rank, tone=lambda row: row_sign(row)[1], most=28,
               vital=True),
        Column("age", "SINCE", lambda row: row.age, lambda row: row.state.since, right=True, width=5, searched=False),
        Column("why", "WHY", lambda row: row.causes[0], most=60, briefer=lambda row: row.causes),
    )  # fmt: skip


def _detail(session: Session, row: WorkloadRow, width: int) -> Iterator[Line]:
    if row.denied is not None:
        yield from refusal_detail(row.denied, width)
        return
    word, tone = short(row.state)
    yield [(tone, row.word if row.told else word)]
    if row.told:
        yield from labelled_lines("jobs", row.told, width)
    if sentence := state_sentence(row.state, session.setting.now()):
        yield from labelled_lines("because", sentence, width)
    if row.state.next:
        yield from labelled_lines("fix", sentence_text(row.state.next), width)


def filter_of_kind(kind: str) -> str:
    """Return what shows the objects of one kind alone: the beginning of their names in the list."""
    return short_ref(ObjectRef(kind, "", ""))


def lists_kind(kind: str) -> bool:
    """Return whether the list has rows of a kind."""
    return kind in POD_MAKERS


LISTING = Listing(
    names=("workloads", "workload", "wl", "running"),
    about="all that makes pods, with what it waits for",
    source=RowSource(
        kinds=(*POD_MAKERS, "Pod", *kinds_of("runs"), "Event"),
        reads=_reads,
        rows=_rows,
        more_reads=lambda session, namespace: needs_of_systems(session.store, namespace),
    ),
    columns=_columns,
    row_mark=row_sign,
    detail=_detail,
    subject=RowSubject(
        ref=lambda row: row.ref,
        opens=lambda row: Location("object", ref=row.ref),
        tabs=("diff", "yaml", "computed"),
        remedies=lambda row: row.denied.fixes if row.denied is not None else (),
    ),
    command=lambda session, namespace: session.command(
        f"explain {','.join(BY_KIND[kind].names[0] for kind in POD_MAKERS)}", namespace
    ),
    wording=Wording(runbook="rollout-stuck"),
    order=WORST_FIRST,
    hints=("suppose", "mark", "timeline", "explain", "faults"),
)
