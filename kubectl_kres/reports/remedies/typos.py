"""Typos in quantities: figures without an m or an Mi, and texts that are nearly quantities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.pod import Pod
from kubectl_kres.quantity import parse, quantity_of
from kubectl_kres.reports.common.explanation import SuspectFigure, Unit

#: A whole number without a suffix, or with the one that stands for thousandths.
_BARE = r"0*([1-9][0-9]{0,5})(m?)"
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


def suspect_figures(pod: Pod, outcomes: Sequence[Outcome]) -> Iterator[SuspectFigure]:
    """Yield the suspect figures among those that were written; defaults of LimitRanges are not typos."""
    findings = [finding for outcome in outcomes if outcome.refusal for finding in outcome.refusal.findings]
    inits = [
        ("sidecar" if init_container.restart_policy == "Always" else "init container", init_container)
        for init_container in pod.spec.init_containers or ()
    ]
    for role, container in (*inits, *(("container", container) for container in pod.spec.containers or ())):
        resources = container.resources
        fields: dict[tuple[str, str], list[str]] = {}
        for side, values in (("requests", resources.requests), ("limits", resources.limits)) if resources else ():
            for name, value in (values or {}).items():
                fields.setdefault((name, str(value)), []).append(f"{side}.{name}")
        for (name, figure), stated in fields.items():
            about = [finding for finding in findings if finding.resource.rpartition(".")[2] == name]
            suspect = (
                _suspect_cpus(figure, about)
                if name == "cpu"
                else _suspect_bytes(figure, about)
                if name in _BYTES
                else None
            )
            if suspect is not None:
                yield SuspectFigure(tuple(stated), f"{role} {container.name}", figure, *suspect)


def _suspect_cpus(figure: str, findings: Iterable[Finding]) -> tuple[int, Unit, str, bool] | None:
    """Return count, unit, suggestion and whether it is refused of a CPU figure such as ``500``, where only a few are
    allowed and 500m are; without a refusal only above any node.
    """
    number = re.fullmatch(_BARE, figure)
    if number is None or number[2]:
        return None
    cpus = int(number[1])
    refused = any(_is_far_above(cpus, finding) for finding in findings)
    return (cpus, "CPU", f"{cpus}m", refused) if refused or cpus in _MANY_CPUS else None


def _is_far_above(cpus: int, finding: Finding) -> bool:
    if finding.rule not in _TOO_MUCH or cpus < _CPUS:
        return False
    try:
        bound = parse(finding.limit)
    except QuantityError:
        return False
    return bound.nano * _TIMES <= quantity_of(cpus).nano <= bound.nano * 1000


def _suspect_bytes(figure: str, findings: Iterable[Finding]) -> tuple[int, Unit, str, bool] | None:
    """Return the same of bytes such as ``512`` and ``100m``, which are less than any program runs with."""
    number = re.fullmatch(_BARE, figure)
    if number is None or int(number[1]) >= _FEW_BYTES:
        return None
    count = int(number[1])
    suggestion = f"{count}Gi" if count < _FEW and not number[2] else f"{count}Mi"
    refused = any(finding.rule in _TOO_LITTLE for finding in findings)
    return count, "millibyte" if number[2] else "byte", suggestion, refused


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
