"""What lets a node take a pod of an object of a list, as the explanation of that object has it."""

from __future__ import annotations

from kubectl_kres.errors import KresError
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.explain.explain import fixes_of_nodes
from kubectl_kres.store.store import Store


def find_node_fixes(store: Store, ref: ObjectRef, pod: Pod, options: EvaluationOptions) -> tuple[Remedy, ...]:
    """Return the fixes for ``pod``, which waits for a node; ``ref``: what the list shows for it. A run of several tasks
    has no pod itself: the task that waits is asked. None where the nodes are not known, or no single change does.
    """
    kind, name = controller(pod)
    for each in dict.fromkeys((ref, ObjectRef(kind, name, ref.namespace))):
        if each.kind not in BY_KIND:
            continue
        try:
            return fixes_of_nodes(store, Subject(each, BY_KIND[each.kind]), options)
        except KresError:
            continue
    return ()
