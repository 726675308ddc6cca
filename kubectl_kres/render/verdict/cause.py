"""Why something is refused, in a few words made from what was compared; the server's sentence stands elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import clipped
from kubectl_kres.reports.rollout.room import short_by

#: So many causes are named; the rest is counted.
_MOST = 2
#: Cells of a sentence that is not ours.
_LONGEST = 160
#: How the server says the level that a pod breaks.
_LEVEL = re.compile(r'PodSecurity "([a-z]+):')
#: How the server says the ratio that it found.
_RATIO = re.compile(r"provided ratio is ([0-9.]+)")
_BOUNDS = {"limitrange/max": "above the max", "limitrange/min": "below the min"}


def cause(findings: Sequence[Finding], names: Mapping[str, str] | None = None) -> str:
    """The causes, the first ones in words. ``names``: of containers, by path. Empty without findings."""
    texts = list(dict.fromkeys(_causes(findings, names or {})))
    more = f" (and {len(texts) - _MOST} more)" if len(texts) > _MOST else ""
    return f"{'; '.join(texts[:_MOST])}{more}"


def figures(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what a pod asks for of each name of a quota that is full, and what is used of it."""
    for finding in findings:
        if finding.rule == "quota/exceeded" and finding.asked and finding.used and finding.limit:
            yield (
                f"{_object(finding)}: a pod asks for {finding.asked} of {finding.resource}, "
                f"{finding.used} of {finding.limit} {'is' if finding.used in {'0', '1'} else 'are'} used"
            )


def _causes(findings: Sequence[Finding], names: Mapping[str, str]) -> Iterator[str]:
    """Those of one quota together."""
    exceeded: dict[str, list[Finding]] = {}
    stated: dict[str, list[Finding]] = {}
    for finding in findings:
        group = {"quota/exceeded": exceeded, "quota/must-specify": stated}.get(finding.rule)
        if group is not None:
            group.setdefault(_object(finding), []).append(finding)
    told: set[str] = set()
    for finding in findings:
        if finding.rule == "pod-security/violated":
            if finding.rule not in told:
                yield _level_text([other for other in findings if other.rule == finding.rule])
            told.add(finding.rule)
            continue
        of = _object(finding)
        if finding.rule == "quota/exceeded":
            if of not in told:
                lacking = _listed(f"{short_by(finding)} of {finding.resource}" for finding in exceeded[of])
                yield f"{of} is short by {lacking}"
        elif finding.rule == "quota/must-specify":
            if of not in told:
                yield f"{of} requires {_listed(finding.resource for finding in stated[of])} on every container"
        else:
            yield _other(finding, names)
            continue
        told.add(of)


def _level_text(findings: Sequence[Finding]) -> str:
    """Return how many settings the Pod Security level of a namespace wants; the first finding has the sentence."""
    level, source = _LEVEL.search(findings[0].text), findings[0].source
    name = f' "{level[1]}"' if level else ""
    space = f" of namespace {source.name}" if source is not None else ""
    return f"Pod Security{name}{space} wants {len(findings)} setting{'s' * (len(findings) != 1)}"


def _other(finding: Finding, names: Mapping[str, str]) -> str:
    value = _value(finding, names)
    if finding.rule in _BOUNDS and finding.limit:
        if _keeps(finding):
            side, bound = ("limit", "max") if finding.rule == "limitrange/max" else ("request", "min")
            return f"{value} has no {side}, which the {bound} {finding.limit} of {_object(finding)} asks for"
        return f"{value} {finding.asked} is {_BOUNDS[finding.rule]} {finding.limit} of {_object(finding)}"
    if finding.rule == "limitrange/ratio":
        resource, _, holder = value.partition(" of ")
        who = f" of {holder}" if holder else ""
        ratio = _RATIO.search(finding.text)
        times = f"{float(ratio[1]):g}x" if ratio else "more than allowed"
        return f"{resource} limit{who} is {times} its request; {_object(finding)} allows {finding.limit}x"
    if finding.rule == "validation/request-over-limit" and finding.limit:
        asked = f" {finding.asked}" if finding.asked else ""
        return f"{value}{asked} is above its limit {finding.limit}"
    if finding.text:
        where = f"{value}: " if finding.rule == "quantity/unparsable" else ""
        return clipped(f"{where}{finding.text}", _LONGEST)
    from kubectl_kres.provenance.rules import RULES

    title = RULES[finding.rule].title.rstrip(".") if finding.rule in RULES else finding.rule
    return f"{value}: {title}" if finding.path else title


def _keeps(finding: Finding) -> bool:
    """Whether what is set keeps to a bound, so that what is not set is refused."""
    if not finding.asked:
        return True
    asked, limit = parse(finding.asked), parse(finding.limit)
    return asked <= limit if finding.rule == "limitrange/max" else limit <= asked


def _value(finding: Finding, names: Mapping[str, str]) -> str:
    """The value as people name it: ``limits.cpu of container app``."""
    at = finding.at
    resource = f"{at.side}.{at.resource or finding.resource}" if at.side else finding.resource
    holder = names.get(str(at.holder), "")
    if not resource:
        return finding.path
    return f"{resource} of {holder}" if holder else resource


def _object(finding: Finding) -> str:
    source = finding.source
    if source is None:
        return "a policy"
    return f"quota {source.name}" if source.kind == "ResourceQuota" else f"{source.kind} {source.name}"


def _listed(texts: Iterable[str]) -> str:
    first, *rest = dict.fromkeys(texts)
    return f"{', '.join((first, *rest[:-1]))} and {rest[-1]}" if rest else first
