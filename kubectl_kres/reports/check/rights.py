"""Rules about what could not be looked at, or was excused without a reason: codes KRES901 to KRES999.

- KRES901: objects that could not be read.
- KRES902: an object that could not be evaluated.
- KRES903: an exemption that does not count.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import ALL_OBJECTS, Diagnostic


def find_unread(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield what other rules needed, each kind once, and never a reason to be silent."""
    for failed_read in context.unread:
        ref = ObjectRef(failed_read.kind, failed_read.name or ALL_OBJECTS, failed_read.namespace)
        yield Diagnostic(ref, {"state": failed_read.state, "message": failed_read.message or "it was not read"})


UNREAD = Rule(
    code="KRES901",
    title="something could not be read",
    severity="warning",
    reason="Rules that depend on it could not look: no finding does not mean that nothing is wrong.",
    remedy="Grant the reads (version --rbac check prints the roles), or take a snapshot that has them.",
    message="{state}: {message}",
    find=find_unread,
    scope="both",
)


def find_no_answer(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the objects without an answer, with the reason."""
    assert context.evaluated_workloads is not None
    for subject, error in context.unanswered:
        yield Diagnostic(subject.ref, {"error": error.message})


NO_ANSWER = Rule(
    code="KRES902",
    title="an object could not be checked",
    severity="warning",
    reason="The other rules say nothing of it.",
    remedy="Its explanation says what is wrong with it, and where.",
    message="{error}",
    find=find_no_answer,
    scope="both",
)


def find_exemption(_scene: CheckContext) -> Iterator[Diagnostic]:
    """Yield nothing: the annotations are read where exemptions are looked up."""
    return iter(())


EXEMPTION = Rule(
    code="KRES903",
    title="an exemption without a reason",
    severity="error",
    reason="Who reads the annotation in a year must learn why the finding is not fixed: without a reason it "
    "does not count.",
    remedy='Write the code and the reason, as kres.dev/ignore: "KRES401 bounded by the node pool". A semicolon '
    "separates several.",
    message="annotation {annotation} does not count: {why}",
    find=find_exemption,
)

RULES = (
    UNREAD,
    NO_ANSWER,
    EXEMPTION,
)
