"""What stands behind one line of a value tree: every step of it, the checks it passed, what was assumed."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.provenance.journal import Check
from kubectl_kres.render.pictures.cost import cost_picture
from kubectl_kres.render.pod.explain import remark_lines, sum_text
from kubectl_kres.render.text.line import Line, Tone, toned, wrapped
from kubectl_kres.render.text.steps import shown_source, step_lines, text
from kubectl_kres.render.text.values import answer
from kubectl_kres.reports.common.explanation import ContainerValues, Explanation, QuotaCost, ResourceValue, Total
from kubectl_kres.tui.widgets.values import ValueRow


def journal_lines(
    explanation: Explanation, row: ValueRow, width: int, *, steps: bool, ascii_only: bool
) -> Iterator[Line]:
    """Why the line under the cursor says what it says."""
    match row.of:
        case ResourceValue() if row.container is not None:
            yield from _value(explanation, row.container, row.of, width, steps=steps)
        case Total():
            yield from _total(explanation, row.of, width, steps=steps)
        case QuotaCost():
            yield from cost_picture(row.of, width, ascii_only=ascii_only)
        case ContainerValues():
            yield from _container(row.of, width)
        case _:
            yield from _pod(explanation, width)


def _value(
    explanation: Explanation, container_values: ContainerValues, value: ResourceValue, width: int, *, steps: bool
) -> Iterator[Line]:
    yield from answer(container_values, value, width)
    place = f"{container_values.path}.resources[{value.resource}]"
    checks = [entry for entry in explanation.journal if isinstance(entry, Check) and entry.path in {value.path, place}]
    if checks and steps:
        yield [("", "")]
        yield [("strong", "checked")]
    for check in checks if steps else ():
        tone: Tone = "bad" if not check.passed else "good"
        sign = "x  " if not check.passed else "ok "
        first, *rest = wrapped(text(check), width, first=sign, rest="   ")
        yield [(tone, first[:3]), ("", first[3:])]
        yield from toned("", rest)
        if check.source is not None:
            yield from toned("quiet", wrapped(shown_source(check.source), width, first="   ", rest="   "))


def _total(explanation: Explanation, total: Total, width: int, *, steps: bool) -> Iterator[Line]:
    yield [("strong", f"pod {total.resource} {total.side[:-1]}"), ("", f" = {total.value}")]
    yield from toned("", wrapped(sum_text(explanation, total), width, first="= ", rest="  "))
    if steps:
        yield from step_lines((total.of,), width)


def _container(container_values: ContainerValues, width: int) -> Iterator[Line]:
    yield [("strong", f"{container_values.role} {container_values.name}".rstrip())]
    if container_values.note:
        yield from toned("warn", wrapped(container_values.note, width))
    yield from toned("quiet", wrapped(container_values.path, width))


def _pod(explanation: Explanation, width: int) -> Iterator[Line]:
    if explanation.qos is not None:
        yield from toned("", wrapped(f"QoS class {explanation.qos.name}: {explanation.qos.because}", width, rest="  "))
    yield from remark_lines(explanation, steps=True, width=width)
