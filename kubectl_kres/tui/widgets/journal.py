"""What stands behind one line of a value tree: every step of it, the checks it passed, what was assumed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kubectl_kres.provenance.journal import Check
from kubectl_kres.render.pod.explain import remark_lines, sum_text
from kubectl_kres.render.text.cost import cost_lines
from kubectl_kres.render.text.line import Line, Tone, toned, wrapped
from kubectl_kres.render.text.steps import shown_source, step_lines, text
from kubectl_kres.render.text.values import answer
from kubectl_kres.reports.common.explanation import ContainerValues, Explanation, QuotaCost, ResourceValue, Total
from kubectl_kres.tui.widgets.values import ValueRow


def journal_lines(found: Explanation, row: ValueRow, width: int, *, steps: bool) -> Iterator[Line]:
    """Why the line under the cursor says what it says."""
    match row.of:
        case ResourceValue() if row.container is not None:
            yield from _value(found, row.container, row.of, width, steps=steps)
        case Total():
            yield from _total(found, row.of, width, steps=steps)
        case QuotaCost():
            # Below others it begins with an empty line, here it stands alone.
            yield from islice(cost_lines(row.of, width=width), 1, None)
        case ContainerValues():
            yield from _container(row.of, width)
        case _:
            yield from _pod(found, width)


def _value(
    found: Explanation, one: ContainerValues, value: ResourceValue, width: int, *, steps: bool
) -> Iterator[Line]:
    yield from answer(one, value, width)
    place = f"{one.path}.resources[{value.resource}]"
    checks = [entry for entry in found.journal if isinstance(entry, Check) and entry.path in {value.path, place}]
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


def _total(found: Explanation, total: Total, width: int, *, steps: bool) -> Iterator[Line]:
    yield [("strong", f"pod {total.resource} {total.side[:-1]}"), ("", f" = {total.value}")]
    yield from toned("", wrapped(sum_text(found, total), width, first="= ", rest="  "))
    if steps:
        yield from step_lines((total.of,), width)


def _container(one: ContainerValues, width: int) -> Iterator[Line]:
    yield [("strong", f"{one.role} {one.name}".rstrip())]
    if one.note:
        yield from toned("warn", wrapped(one.note, width))
    yield from toned("quiet", wrapped(one.path, width))


def _pod(found: Explanation, width: int) -> Iterator[Line]:
    if found.qos is not None:
        yield from toned("", wrapped(f"QoS class {found.qos.name}: {found.qos.because}", width, rest="  "))
    yield from remark_lines(found, steps=True, width=width)
