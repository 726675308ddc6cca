"""How a case recorded from Capsule's controllers is put to ``kubectl_kres.capsule``: event by event from nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from conformance.compare import Loose, Path
from conformance.pools import METRICS, PARTS, flat, metric_lines, metrics_of, state

from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.capsule.replay.events import (
    Create,
    CreatedTogether,
    DeleteEvent,
    PatchEvent,
    TimePasses,
    WorldEvent,
    replay,
)
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.pod import Pod

Data = Mapping[str, Any]

COMPARED = ("rejected", *PARTS, "metrics", "before", "after")

NOT_COMPARED = METRICS

#: ``metrics`` are not in the random cases, and what comes before the end is recorded of the most frequent run only.
OPTIONAL = ("metrics", "before", "after")


class Run(NamedTuple):
    """One way that a case can go so far. ``uids``: how often an object of a name was created."""

    world: PoolWorld
    rejected: tuple[Data, ...] = ()
    uids: Mapping[str, int] = {}
    before: Data | None = None
    after: tuple[Data, ...] = ()


def play(case: Data, _file: Data) -> list[dict[str, Any]]:
    """Every way that the case can end, in the shape of ``answers``."""
    runs = [Run(PoolWorld())]
    given = case["given"]
    for group in ("namespaces", "objects", "pools", "claims", "pods"):
        items = given.get(group, ())
        if group == "claims" and case.get("batch"):
            runs = list(_batch(runs, items))
            continue
        for index, item in enumerate(items):
            step = {"given": group, "index": index}
            runs = list(_stepped(runs, {"do": "create", "object": item, "sent": item.get("sent")}, step))
    if "expect_before_steps" in case:
        runs = [run._replace(before=_state(run)) for run in runs]
    return ended(runs, case)


def ended(runs: Sequence[Run], case: Data) -> list[dict[str, Any]]:
    """Every end that the steps of a case lead to."""
    for index, step in enumerate(case["steps"]):
        runs = list(_stepped(runs, step, index))
        if "expect_after_steps" in case:
            runs = [run._replace(after=(*run.after, _state(run))) for run in runs]
    found: list[dict[str, Any]] = []
    for run in runs:
        answer = _answer(run, case)
        if answer not in found:
            found.append(answer)
    return found


def required(_case: Data, _file: Data) -> bool:
    """All of them."""
    return True


def complete(case: Data, _file: Data) -> bool:
    """Whether just one thing can happen: what claims of a deleted pool are told is a race that few runs do not show."""
    ends = any(step["do"] == "delete" and step["object"].get("kind") == "ResourcePool" for step in case["steps"])
    return case.get("deterministic") is True and not ends


def loose(_case: Data, _file: Data) -> Loose:
    """What is used is summed over namespaces in random order, which decides the notation."""

    def is_used(path: Path) -> bool:
        return "used" in path and "allocation" in path

    return is_used


def answers(case: Data) -> list[Data]:
    """The recorded ends by part, and with the first, the most frequent one, what came before it."""
    ends = [case["expect"], *(outcome["expect"] for outcome in case.get("outcomes", ()))]
    found = [{"rejected": end["rejected"], **flat(end), **metrics_of(end)} for end in ends]
    if "expect_before_steps" in case:
        found[0]["before"] = flat(case["expect_before_steps"])
    if "expect_after_steps" in case:
        found[0]["after"] = [flat(state) for state in case["expect_after_steps"]]
    return found


def _answer(run: Run, case: Data) -> dict[str, Any]:
    answer = {"rejected": list(run.rejected), **_state(run)}
    if "metrics" in case["expect"]:
        answer |= metrics_of({"metrics": metric_lines(run.world), **state(run.world, run.uids)})
    if run.before is not None:
        answer["before"] = run.before
    if run.after:
        answer["after"] = list(run.after)
    return answer


def _state(run: Run) -> dict[str, Any]:
    return flat(state(run.world, run.uids))


def _stepped(runs: Sequence[Run], step: Data, name: Any) -> Iterator[Run]:
    for run in runs:
        uids, event = _event(run, step)
        for outcome in replay(run.world, event):
            if outcome.refusal is None:
                later = replay(outcome.world, TimePasses()) if _ends_a_pool(event) else ()
                yield from (run._replace(world=one.world, uids=uids) for one in (outcome, *later))
            else:
                yield run._replace(rejected=(*run.rejected, _rejected(outcome.refusal, name)))


def _ends_a_pool(event: WorldEvent) -> bool:
    """Whether the garbage collector has something to do, which it may have done before the recorder looked."""
    return isinstance(event, DeleteEvent) and event.kind == "ResourcePool"


def _batch(runs: Sequence[Run], items: Sequence[Data]) -> Iterator[Run]:
    for run in runs:
        uids, creates = run.uids, []
        for item in items:
            uids, event = _event(run._replace(uids=uids), {"do": "create", "object": item, "sent": item["sent"]})
            creates.append(event)
        for outcome in replay(run.world, CreatedTogether(tuple(creates))):
            yield run._replace(world=outcome.world, uids=uids)


def _rejected(refusal: Refusal, step: Any) -> dict[str, Any]:
    return {"step": step, "code": refusal.code, "reason": refusal.reason or None, "message": refusal.message}


def _event(run: Run, step: Data) -> tuple[Mapping[str, int], WorldEvent]:
    if step["do"] == "wait":
        return run.uids, TimePasses()
    item = step["object"]
    kind, meta = item.get("kind", "Namespace"), item["metadata"]
    name, space = meta["name"], meta.get("namespace", "")
    if step["do"] == "delete":
        return run.uids, DeleteEvent(kind, name, space)
    if step["do"] != "create":
        patch = {key: value for key, value in item.items() if key not in {"kind", "apiVersion"}}
        return run.uids, PatchEvent(kind, name, patch, space)
    uid = f"uid:{kind}/{f'{space}/' if space else ''}{name}"
    uids = {**run.uids, uid: run.uids.get(uid, 0) + 1}
    return uids, Create(_sent(item, step.get("sent") or {}, uid if uids[uid] == 1 else f"{uid}#{uids[uid]}"))


def _sent(item: Data, sent: Data, uid: str) -> Any:
    """What the user sent, with the name of the stored object, and the time and UID that the server gave it."""
    kind = item.get("kind", "Namespace")
    raw = {key: value for key, value in item.items() if key != "sent"}
    if sent:
        kept = {
            key: raw["metadata"][key] for key in ("name", "namespace", "creationTimestamp") if key in raw["metadata"]
        }
        raw = {"kind": kind, "metadata": {**kept, **sent.get("metadata", {})}, "spec": sent["spec"]}
    raw = {**raw, "metadata": {**raw["metadata"], "uid": uid}}
    return msgspec.convert(raw, Pod if kind == "Pod" else BY_KIND[kind].struct)
