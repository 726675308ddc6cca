"""What is noticed of TaskRuns on the first screen, the worst first."""

from __future__ import annotations

from kubectl_kres.model.tekton import TaskRun
from kubectl_kres.render.text.line import Tone
from kubectl_kres.tui.lists.pods import since
from kubectl_kres.tui.location import Location
from kubectl_kres.tui.overview.problem import MOST, Area, Notice, worst
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.tekton import taskrun_list


def run_area(session: Session) -> Area:
    """By what their conditions say: nothing is computed here. A run that failed with a pod is not about resources."""
    held = list(session.store.all("TaskRun", session.namespace or None))
    counts: dict[str, int] = {}
    for run in held:
        word = taskrun_list.fares(run)
        counts[word] = counts.get(word, 0) + 1
    order = ("failed", "waiting", "cancelled", "new", "pending", "running", "succeeded")
    said = "  ".join(f"{counts[word]} {word}" for word in order if word in counts)
    podless = [run for run in held if taskrun_list.fares(run) == "failed" and not run.status.pod_name]
    podless.sort(key=lambda run: run.metadata.creation_timestamp or "", reverse=True)
    waiting = [run for run in held if taskrun_list.fares(run) == "waiting"]
    found = [
        *(_run(run, ("x", "bad"), session) for run in podless[:MOST]),
        *(_run(run, ("!", "warn"), session) for run in waiting[:MOST]),
    ]
    return Area(worst(found), len(held), said or "none", tuple(found))


def _run(run: TaskRun, sign: tuple[str, Tone], session: Session) -> Notice:
    condition = taskrun_list.condition_of(run)
    reason = condition.reason if condition is not None else ""
    age = since((condition.last_transition_time if condition is not None else "") or "", session.setting.now())
    said = f"{taskrun_list.fares(run)}  {reason}{f'  for {age}' if age and sign[0] == '!' else ''}"
    place = Location("object", ref=taskrun_list.ref_of(run))
    return Notice(sign, f"taskrun/{run.metadata.name}", run.metadata.namespace, said, place)
