"""Typos in quantities: figures without an m or an Mi, and texts that are nearly quantities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import parse, quantity_of

#: A whole number without a suffix, or with the one that stands for thousandths.
_BARE = re.compile(r"0*([1-9][0-9]{0,5})(m?)")
_BYTES = ("memory", "ephemeral-storage")
#: Fewer bytes than any program runs with. More CPUs than any node has, and thousandths as one may have.
_FEW_BYTES, _MANY_CPUS = 65536, range(1000, 100_000)
#: From here a number of CPUs may be one of thousandths, if it is so many times what is allowed.
_CPUS, _TIMES = 50, 4
#: Below this a number of bytes without a suffix is rather one of Gi.
_FEW = 10
#: What refuses a figure that is too large, and one that is too small.
_TOO_MUCH = {"quota/exceeded", "limitrange/max", "validation/request-over-limit"}
_TOO_LITTLE = {"limitrange/min", "limitrange/ratio", "validation/request-over-limit"}


class SuspectFigure(NamedTuple):
    """A suspect figure of a container: its place, its text, and what was probably meant.

    refused: a refusal of the pod is about it.
    """

    sides: str
    says: str
    suggestion: str
    refused: bool


def suggest_fix(pod: Pod, outcomes: Sequence[Outcome]) -> tuple[str, str]:
    """Return what was probably meant by the refused figure, and by others; empty where there is no doubt."""
    doubts = [
        *_doubts(pod, [finding for outcome in outcomes if outcome.refusal for finding in outcome.refusal.findings])
    ]
    refused = " and ".join(f"{doubt.suggestion} in {doubt.sides} ({doubt.says})" for doubt in doubts if doubt.refused)
    others = [
        f"look at {doubt.sides}: {doubt.says}; did you mean {doubt.suggestion}?"
        for doubt in doubts
        if not doubt.refused
    ]
    return f"did you mean {refused}?" if refused else "", "; ".join(others)


def _doubts(pod: Pod, findings: Sequence[Finding]) -> Iterator[SuspectFigure]:
    """Yield the suspect values among those that were written; defaults of LimitRanges are not typos."""
    inits = [
        ("sidecar" if init_container.restart_policy == "Always" else "init container", init_container)
        for init_container in pod.spec.init_containers or ()
    ]
    for role, container in (*inits, *(("container", container) for container in pod.spec.containers or ())):
        resources = container.resources
        result: dict[tuple[str, str], list[str]] = {}
        for side, values in (("requests", resources.requests), ("limits", resources.limits)) if resources else ():
            for name, value in (values or {}).items():
                result.setdefault((name, str(value)), []).append(f"{side}.{name}")
        for (name, text), sides in result.items():
            about = [finding for finding in findings if finding.resource.rpartition(".")[2] == name]
            texts = _cpus(text, about) if name == "cpu" else _find_byte_doubt(text, about) if name in _BYTES else None
            if texts is not None:
                yield SuspectFigure(f"{' and '.join(sides)} of {role} {container.name}", *texts)


def _cpus(text: str, findings: Iterable[Finding]) -> tuple[str, str, bool] | None:
    """Return the doubt about a CPU figure such as ``500``, where only a few are allowed and 500m are; without a refusal
    only above any node.
    """
    number = _BARE.fullmatch(text)
    if number is None or number[2]:
        return None
    cpus = int(number[1])
    refused = any(_is_far_above(cpus, finding) for finding in findings)
    return (f"{cpus} is {cpus} CPUs", f"{cpus}m", refused) if refused or cpus in _MANY_CPUS else None


def _is_far_above(cpus: int, finding: Finding) -> bool:
    if finding.rule not in _TOO_MUCH or cpus < _CPUS:
        return False
    try:
        bound = parse(finding.limit)
    except QuantityError:
        return False
    return bound.nano * _TIMES <= quantity_of(cpus).nano <= bound.nano * 1000


def _find_byte_doubt(text: str, findings: Iterable[Finding]) -> tuple[str, str, bool] | None:
    """Return the doubt about bytes such as ``512`` and ``100m``, which are less than any program runs with."""
    number = _BARE.fullmatch(text)
    if number is None or int(number[1]) >= _FEW_BYTES:
        return None
    count = int(number[1])
    condition = f"{text} is {f'{count} thousandths of a byte' if number[2] else f'{count} byte' + 's' * (count > 1)}"
    suggestion = f"{count}Gi" if count < _FEW and not number[2] else f"{count}Mi"
    return condition, suggestion, any(finding.rule in _TOO_LITTLE for finding in findings)


def suggest_quantity(text: str) -> str:
    """Return what a mistyped quantity probably meant, the likelier first; empty if nothing close parses."""
    squeezed = text.replace(" ", "").replace("_", "").replace(",", ".")
    number = squeezed.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    suffix = squeezed[len(number) :]
    guesses: Mapping[str, tuple[str, ...]] = {
        "k": ("Ki", "k"), "kb": ("Ki", "k"), "kib": ("Ki",), "ki": ("Ki",),
        "mb": ("Mi", "M"), "mib": ("Mi",), "mi": ("Mi",), "gb": ("Gi", "G"), "gib": ("Gi",), "gi": ("Gi",),
        "g": ("Gi", "G"), "tb": ("Ti", "T"), "tib": ("Ti",), "ti": ("Ti",), "": ("",), "b": ("",), "cpu": ("",),
        "core": ("",), "cores": ("",), "millicores": ("m",), "mcpu": ("m",),
    }  # fmt: skip
    good = []
    for guess in guesses.get(suffix.lower(), ()):
        try:
            parse(f"{number}{guess}")
        except QuantityError:
            continue
        if number:
            good.append(f"{number}{guess}")
    return " or ".join(good)
