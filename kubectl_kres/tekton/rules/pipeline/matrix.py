"""How many runs a pipeline task fans out into."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_kres.tekton.model import IncludeParams, Matrix, Param

#: A whole array in place of a value, and of one of several; only there may the star be left out.
_WHOLE_ARRAY = re.compile(r"\$\(params(?:\.|\[[\"'])([A-Za-z0-9_.-]+?)(?:[\"']\])?(\[\*\])?\)")
_RESULT_ARRAY = re.compile(r"\$\(tasks\.[^()]+\[\*\]\)")


def values_of(given: Sequence[Param] | None, declared: Sequence[Param] | None) -> dict[str, Any]:
    """The parameters of a PipelineRun: as given, else the Pipeline's defaults."""
    result = {param.name: param.default for param in declared or () if param.default is not None}
    return result | {param.name: param.value for param in given or ()}


def runs(matrix: Matrix | None, params: Mapping[str, Any]) -> int | None:
    """The number of runs, 1 without a matrix; None where it depends on the result of a task.

    Source: apis/pipeline/v1/matrix_types.go FanOut, CountCombinations.
    """
    if matrix is None or not (matrix.params or matrix.include):
        return 1
    lists = {param.name: _list(param.value, params) for param in matrix.params or ()}
    known = {name: values for name, values in lists.items() if values is not None}
    if len(known) < len(lists):
        return None
    number = 1 if known else 0
    for values in known.values():
        number *= len(values)
    return number + sum(_adds(include_params, known) for include_params in matrix.include or ())


def _list(value: Any, params: Mapping[str, Any]) -> list[Any] | None:
    """The values of a parameter; a text can stand for a whole list of the PipelineRun. None: not known."""
    if isinstance(value, str):
        match = _WHOLE_ARRAY.fullmatch(value)
        return _array(params.get(match[1])) if match and match[2] else None
    return _spread(value, params) if isinstance(value, list | tuple) else None


def _spread(values: Sequence[Any], params: Mapping[str, Any]) -> list[Any] | None:
    """The values, with a parameter that is an array in place of the text that names it.

    Source: pkg/substitution/substitution.go ApplyArrayReplacements.
    """
    result: list[Any] = []
    for value in values:
        if isinstance(value, str) and _RESULT_ARRAY.fullmatch(value):
            return None
        match = _WHOLE_ARRAY.fullmatch(value) if isinstance(value, str) else None
        array = _array(params.get(match[1])) if match else None
        if match and match[2] and array is None:
            return None
        result += [value] if array is None else array
    return result


def _array(value: Any) -> list[Any] | None:
    return [*value] if isinstance(value, list | tuple) else None


def _adds(include: IncludeParams, lists: Mapping[str, Sequence[Any]]) -> bool:
    """Whether an explicit combination is one more: it names a value that no combination of the lists has."""
    if not lists:
        return True
    common = [param for param in include.params or () if param.name in lists]
    return any(param.value not in lists[param.name] for param in common)
