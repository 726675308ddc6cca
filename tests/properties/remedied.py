"""Doing what a remedy says: its sentence read, the change made to the pod or to the quota."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from kubectl_kres.admission.pods import Policies
from kubectl_kres.admission.quota import Quota
from kubectl_kres.quantity import parse

Raw = dict[str, Any]

_WHO = (
    r"(?P<who>container|init container|sidecar) (?P<name>\S+?)|(?P<both>the pod level and of the containers, in sum,)"
)
_WHO += r"|(?P<level>the pod level)|(?P<all>the containers, in sum,)"
_VALUE = r"(?P<{0}side>requests|limits)\.(?P<{0}resource>\S+)"
_SET = re.compile(
    rf"set {_VALUE.format('a')}(?: and {_VALUE.format('b')})? of (?:{_WHO}) to (?:at least|at most) (?P<value>[^\s,]+)"
    rf"(?: and {_VALUE.format('c')} to (?:at least|at most) (?P<other>[^\s,]+))?"
    r"(?: \(.*\))?(?:, (?:what|or|the max of) .*|: the max of .*)?"
)
_BOTH = re.compile(
    rf"set {_VALUE.format('a')} and {_VALUE.format('b')} of (?:{_WHO.replace('in sum,', 'in sum')}), "
    r"the limit at most \S+ times the request"
)
_WRITE = re.compile(
    rf"write {_VALUE.format('a')} and {_VALUE.format('b')} of (?:{_WHO}): \S+ and \S+ differ(?:, or merge .*)?"
)
_BESIDE = re.compile(rf"give (?:{_WHO}) cpu or memory beside the huge pages")
_EQUAL = re.compile(rf"set {_VALUE.format('a')} of (?:{_WHO}) to (?P<value>\S+), equal to its (?:limit|request)")
_RAISE = re.compile(
    r"(?:free \S+ of|raise) (?P<resource>\S+) (?:in|of) quota (?P<quota>[^\s,]+)(?:, or raise its hard)? "
    r"to (?P<value>[^\s,]+)(?:, .*)?"
)
_STATE = re.compile(
    r"set (?P<side>requests|limits)\.(?P<resource>\S+) of containers? (?P<names>.+?), or add a LimitRange .*"
)
_UNKNOWN = re.compile(
    r"name only cpu, memory or hugepages-SIZE at the pod level: "
    r"spec\.resources\.(?P<side>limits|requests)\[(?P<resource>.+)\]"
)


def obey(sentence: str, raw: Raw, held: Policies) -> tuple[Raw, Policies]:
    """The pod and the policies after the change. Raises ValueError for a sentence that says none of these."""
    changed = copy.deepcopy(raw)
    if found := _SET.fullmatch(sentence) or _EQUAL.fullmatch(sentence):
        groups = {"bside": None, "cside": None, **found.groupdict()}
        for place in places(changed, found):
            resources = place.setdefault("resources", {})
            for prefix, value in (("a", "value"), ("b", "value"), ("c", "other")):
                if groups[f"{prefix}side"]:
                    resources.setdefault(groups[f"{prefix}side"], {})[groups[f"{prefix}resource"]] = groups[value]
        return changed, held
    if found := _BESIDE.fullmatch(sentence):
        for place in places(changed, found):
            place["resources"].setdefault("requests", {})["cpu"] = "100m"
        return changed, held
    if found := _BOTH.fullmatch(sentence) or _WRITE.fullmatch(sentence):
        for place in places(changed, found):
            for side in ("requests", "limits"):
                value = {"cpu": "1m", "memory": "64Mi"}[found["aresource"]]
                place.setdefault("resources", {}).setdefault(side, {})[found["aresource"]] = value
        return changed, held
    if found := _UNKNOWN.fullmatch(sentence):
        changed["spec"]["resources"][found["side"]].pop(found["resource"])
        return changed, held
    if found := _STATE.fullmatch(sentence):
        for name in re.split(r", | and ", found["names"]):
            for container in containers(changed, name):
                container.setdefault("resources", {}).setdefault(found["side"], {})[found["resource"]] = "0"
        return changed, held
    if found := _RAISE.fullmatch(sentence):
        return changed, Policies(
            held.limits, tuple(raised(quota, found) for quota in held.quotas), held.priorities, held.runtimes
        )
    raise ValueError(sentence)


def places(raw: Raw, found: re.Match[str]) -> Iterator[Raw]:
    """What holds the resources that a sentence is about; a sum is changed in the only container there is."""
    if found["level"] or found["both"]:
        yield raw["spec"]
    if found["all"] or found["both"]:
        [only] = [*raw["spec"]["containers"], *raw["spec"].get("initContainers", ())]
        yield only
    if found["name"]:
        yield from containers(raw, found["name"])


def containers(raw: Raw, name: str) -> Iterator[Raw]:
    every = [*raw["spec"]["containers"], *raw["spec"].get("initContainers", ())]
    yield from (one for one in every if one["name"] == name)


def raised(quota: Quota, found: re.Match[str]) -> Quota:
    if quota.name != found["quota"]:
        return quota
    hard = {**quota.hard, found["resource"]: parse(found["value"])}
    return Quota(quota.name, quota.source, quota.scopes, hard, quota.used)
