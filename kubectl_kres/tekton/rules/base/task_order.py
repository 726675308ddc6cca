"""The order of pipeline tasks: which tasks each one waits for, and cycles among them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.tekton.model import Matrix, Param, PipelineTask

_RESULT = re.compile(r"\$\(tasks\.([A-Za-z0-9_-]+)\.(?:results|outputs)[.\[]")


def waits_for(task: PipelineTask) -> Iterator[str]:
    """Yield what it names in ``runAfter``, and whose results it refers to. Source: pipeline_types.go Deps."""
    yield from task.run_after or ()
    texts = [*_texts(task.params), *_matrix_texts(task.matrix)]
    for when in task.when or ():
        texts += [when.input, when.cel, *(when.values or ())]
    for text in texts:
        yield from _RESULT.findall(text)


def _matrix_texts(matrix: Matrix | None) -> Iterator[str]:
    if matrix is not None:
        yield from _texts(matrix.params)
        for include_params in matrix.include or ():
            yield from _texts(include_params.params)


def _texts(params: Sequence[Param] | None) -> Iterator[str]:
    for param in params or ():
        value = param.value
        parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else (value,)
        yield from (part for part in parts if isinstance(part, str))


def find_cycle(graph: Mapping[str, Sequence[str]]) -> tuple[str, tuple[str, ...]] | None:
    """Return the first by name of the tasks that can never start, and what it still waits for; None: all can.

    Source: reconciler/pipeline/dag/dag.go findCyclesInDependencies.
    """
    left = {name: {other for other in after if other in graph} for name, after in graph.items()}
    free = [name for name, after in left.items() if not after]
    children: dict[str, list[str]] = {}
    for name, after in left.items():
        for other in after:
            children.setdefault(other, []).append(name)
    while free:
        done = free.pop()
        for child in children.get(done, ()):
            left[child].discard(done)
            if not left[child]:
                free.append(child)
    stuck = {name: after for name, after in left.items() if after}
    first = min(stuck, default=None)
    return None if first is None else (first, tuple(sorted(stuck[first])))
