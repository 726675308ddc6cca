"""What changed in which version of Tekton: one table, from which rules and remarks follow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from kubectl_kres.provenance.journal import Assumption

TektonVersion = tuple[int, int, int]

#: The rules of today hold from here on.
OLDEST: TektonVersion = (0, 40, 0)
#: The version whose recorded answers the rules are checked with.
CHECKED: TektonVersion = (1, 15, 0)
#: The newest minor version whose changes are in the table.
NEWEST: TektonVersion = (1, 16, 0)

#: Changes that the rules here follow, each by the version of the controller.
Rule = Literal["affinity-flag", "claims-retried", "runs-held", "built-in-values", "security-context-default"]


class TektonChange(Struct, frozen=True):
    """``since``: the first version with it; ``until``: the first one without it again; None: it is still there.

    ``rule``: its name where the rules follow it, so that nothing is left to remark. ``before``: what older versions do,
    of a change that the rules do not follow.
    """

    since: TektonVersion
    rule: Rule | None = None
    before: str = ""
    until: TektonVersion | None = None


#: In the order of versions. Source: the history of tektoncd/pipeline, first tag that contains each change.
CHANGES: tuple[TektonChange, ...] = (
    TektonChange((0, 53, 0), before="resources of a whole Task need enable-api-fields alpha"),
    TektonChange((0, 56, 0), before="config-defaults gives containers nothing"),
    TektonChange(
        (0, 62, 0),
        before="values for single steps and sidecars need enable-api-fields alpha, sidecars are never init containers",
    ),
    TektonChange((0, 63, 0), before="config-defaults comes after the LimitRange"),
    TektonChange((0, 68, 0), before="resources of a whole Task are divided into thousandths of a byte"),
    # config/feature_flags.go: disable-affinity-assistant is not read any more.
    TektonChange((1, 0, 0), "affinity-flag"),
    # reconciler/volumeclaim/pvchandler.go isRetryableError.
    TektonChange((1, 4, 0), "claims-retried"),
    # apis/pipeline/v1/taskrun_types.go TaskRunSpecStatusPending.
    TektonChange((1, 11, 0), "runs-held"),
    # pkg/pod/pod.go: requests and limits of the containers that Tekton adds.
    TektonChange((1, 13, 0), "built-in-values", until=(1, 13, 1)),
    # apis/config/feature_flags.go DefaultSetSecurityContext.
    TektonChange((1, 16, 0), "security-context-default"),
)

_BY_RULE = {change.rule: change for change in CHANGES if change.rule is not None}


def has_change(rule: Rule, version: TektonVersion | None) -> bool:
    """Return whether the version has the change. One that is not known is taken as that the rules are checked with."""
    change, own_version = _BY_RULE[rule], version or CHECKED
    return change.since <= own_version and (change.until is None or own_version < change.until)


def version_of(text: str) -> TektonVersion | None:
    """Return the numbers of ``v1.15.0``; None for what is no version (``devel``)."""
    match = re.match(r"v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?", text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


def version_remarks(version: TektonVersion | None) -> Iterator[Assumption]:
    """Yield what the version does otherwise, as far as that is known; the answers are those of today's rules."""
    if version is None:
        return
    name = ".".join(map(str, version))
    if version < OLDEST:
        yield Assumption(
            "", "tekton/too-old", f"Tekton {name} is older than 0.40: the rules of 0.40 and later are shown"
        )
    elif changes := [change.before for change in CHANGES if change.before and version < change.since]:
        text = f"Tekton {name}: today's rules are shown, not those of then ({'; '.join(changes)})"
        yield Assumption("", "tekton/older", text)
    elif version[:2] > NEWEST[:2]:
        newest = ".".join(map(str, NEWEST[:2]))
        text = f"Tekton {name} is newer than {newest}, the last one whose changes are known here: its rules may differ"
        yield Assumption("", "tekton/newer", text)
