"""KRES901: objects that could not be read."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import EVERY, Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """What other rules needed, each kind once, and never a reason to be silent."""
    for unseen in scene.unread:
        ref = ObjectRef(unseen.kind, unseen.name or EVERY, unseen.namespace)
        yield Broken(ref, {"state": unseen.state, "message": unseen.message or "it was not read"})


RULE = Rule(
    code="KRES901",
    title="something could not be read",
    severity="warning",
    reason="Rules that depend on it could not look: no finding does not mean that nothing is wrong.",
    remedy="Grant the reads (version --rbac check prints the roles), or take a snapshot that has them.",
    message="{state}: {message}",
    find=find,
    about="both",
    failing="""
# a ClusterRole without list of resourcequotas
""",
    passing="""
# all reads succeed
""",
)
