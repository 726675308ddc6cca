"""Hints for reads that were refused: the RBAC rule that a cluster's administrator would add."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.render.text.line import Line, tone_lines, wrap_text
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.session import Session, single_read_request

#: What a state of coverage is called.
_WORDS = {"denied": "forbidden", "unread": "not held here"}


def gap_lines(session: Session, reads: Iterable[ReadRequest], width: int) -> Iterator[Line]:
    """Each need that is not known, in the server's words; for what is forbidden, the rule that is missing."""
    states = session.feed.states()
    for read in reads:
        coverage = session.store.covered(read)
        state = states.get(single_read_request(read))
        if coverage.is_known or (coverage.state == "unread" and (state is None or not state.has_objects)):
            continue
        kind = BY_KIND[read.kind]
        namespace_text = f" in {read.namespace}" if read.namespace else ""
        word = _WORDS.get(coverage.state, coverage.state)
        text = f"? {word}: list {kind.plural}{namespace_text}"
        yield from tone_lines("bad", wrap_text(text, width, rest="  "))
        if coverage.message:
            yield from tone_lines("quiet", wrap_text(coverage.message, width, first="  ", rest="  "))
        if coverage.state == "denied":
            yield from tone_lines("", rule_lines(read))


def rule_lines(read: ReadRequest) -> Iterator[str]:
    """Yield the RBAC rule, as it stands in a Role."""
    kind = BY_KIND[read.kind]
    scope = f"Role in {read.namespace}" if read.namespace and kind.namespaced else "ClusterRole"
    yield f"  a {scope} would need the rule"
    yield f'    - apiGroups: ["{kind.group}"]'
    yield f'      resources: ["{kind.plural}"]'
    yield '      verbs: ["get", "list", "watch"]'


def rule_text(read: ReadRequest) -> str:
    """Return the rule alone, to paste."""
    return "\n".join(line[4:] for line in list(rule_lines(read))[1:])
