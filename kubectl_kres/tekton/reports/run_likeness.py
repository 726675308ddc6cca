"""What is alike about TaskRuns that were made of one Task and fare alike: their explanations differ in a few texts."""

from __future__ import annotations

import msgspec
from msgspec import structs

from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.reports.common.system import Likeness
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.model import TaskRun
from kubectl_kres.tekton.reports.run_facts import condition_of, waiting_of
from kubectl_kres.tekton.reports.world import revision_of, tekton_world
from kubectl_kres.tekton.rules.base.naming import pod_name

_ENCODER = msgspec.msgpack.Encoder()
#: Variables that stand for what is a run's own.
_OWN = b"$(context."


def run_likeness(store: Store, subject: Subject, ask: Ask) -> Likeness | None:
    """Of a run of the cluster that was not tried again and whose pod is not looked at: all of it but its name, its
    times, and what those of a run that waits come to. None for any other.
    """
    ref = subject.ref
    run = store.get(ref.kind, ref.name, ref.namespace)
    if not isinstance(run, TaskRun) or run.status.retries_status or (run.status.conditions or ())[1:]:
        return None
    name, pod, condition = ref.name, run.status.pod_name, condition_of(run)
    # A name that is too long for its pod goes into a hash.
    if pod not in {"", f"{name}-pod"} or pod_name(name) != f"{name}-pod":
        return None
    if pod and store.get("Pod", pod, ref.namespace) is not None:
        return None
    world = tekton_world(store, ref.namespace, ask)
    waits = waiting_of(store, run, ask.now, world.config.timeout_minutes)
    since = (condition.last_transition_time if condition is not None else None) or ""
    tried = waits.next_try if waits is not None else ""
    key = (
        ref.namespace,
        revision_of(store),
        store.covered(Need("Pod", ref.namespace, pod, required=False)) if pod else None,
        structs.replace(run.metadata, name="", uid="", resource_version="", creation_timestamp=None, generation=0),
        run.spec,
        structs.replace(
            run.status,
            pod_name=bool(pod) * "pod",
            start_time=None,
            completion_time=None,
            conditions=condition and (structs.replace(condition, last_transition_time=None),),
        ),
        waits and (waits.pipeline_run, waits.seconds_left),
        bool(since),
        bool(tried),
    )
    encoded = _ENCODER.encode(key)
    if _OWN in encoded or name.encode("utf-8", "replace") in encoded:
        return None
    return Likeness(encoded, (name, *filter(None, (since, tried))))
