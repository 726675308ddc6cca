"""Admission policies by namespace: which decide about pods there, and what each makes of those that exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.policies.reports.effects import PolicyEffect, effects_needs, policy_effects
from kubectl_kres.policies.text import policy_lines
from kubectl_kres.render.text.line import Line, Tone, tone_lines, wrap_text
from kubectl_kres.store.store import ReadRequest
from kubectl_kres.tui.lists.list_spec import Listing, ListRows, RowSource, RowSubject, Wording
from kubectl_kres.tui.session import Session
from kubectl_kres.tui.table.columns import Column


class _Row(Struct, frozen=True):
    namespace: str
    effect: PolicyEffect

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef(self.effect.kind, self.effect.name)


def _rows(session: Session, namespace: str) -> ListRows:
    spaces = [namespace] if namespace else sorted({pod.metadata.namespace for pod in session.store.all("Pod")})
    for space in spaces:
        for effect in policy_effects(session.store, space, session.evaluation_options).policies:
            yield (space, effect.kind, effect.name), _Row(space, effect)
        yield (), None


def _effect_sign(row: _Row) -> tuple[str, Tone]:
    """``x``: pods that are there would be refused; ``!``: they differ from it, or it is not computed."""
    effect = row.effect
    if effect.faults or any(other.refused for other in effect.failing):
        return "x", "bad"
    return ("!", "warn") if effect.failing or effect.unknown else ("", "")


def _pods(row: _Row) -> str:
    effect = row.effect
    return "?" if effect.unknown else f"{effect.passing}/{effect.pods}" if effect.pods else "-"


def _columns(namespace: str) -> tuple[Column, ...]:
    namespace_column = Column("namespace", "NAMESPACE", lambda row: row.namespace)
    return (
        *(() if namespace else (namespace_column,)),
        Column("name", "NAME", lambda row: row.effect.name, most=48),
        Column("pods", "PODS", _pods, lambda row: row.effect.met - row.effect.pods, right=True),
        Column("kind", "KIND", lambda row: row.effect.kind, wide=True),
        Column("actions", "ACTIONS", lambda row: ", ".join(row.effect.actions) or "mutates"),
        Column("bindings", "BINDINGS", lambda row: ", ".join(row.effect.bindings), wide=True),
    )


def _detail(session: Session, row: _Row, width: int) -> Iterator[Line]:
    del session
    yield from policy_lines(row.effect, width)


def _empty(_session: Session, _namespace: str, width: int) -> Iterator[Line]:
    """Yield where policies come from, and which pods they decide about."""
    text = "Policies are ValidatingAdmissionPolicies and MutatingAdmissionPolicies with a binding whose rules match"
    yield from tone_lines("quiet", wrap_text(f"{text} pods. t shows what decided something lately.", width))


def _list_read_requests(namespace: str) -> tuple[ReadRequest, ...]:
    return ReadRequest("Namespace", name=namespace, required=False), ReadRequest("Pod", namespace)


def _further_read_requests(session: Session, namespace: str) -> Iterable[ReadRequest]:
    return effects_needs(session.store, namespace)


LISTING = Listing(
    names=("policies", "policy"),
    about="admission policies that decide about pods of a namespace, and what they make of those that exist",
    source=RowSource(
        kinds=(
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "Namespace",
            "Pod",
        ),
        reads=_list_read_requests,
        rows=_rows,
        more_reads=_further_read_requests,
    ),
    columns=_columns,
    row_mark=_effect_sign,
    detail=_detail,
    subject=RowSubject(ref=lambda row: row.ref, opens=lambda _: None),
    command=lambda session, namespace: session.command("explain policies", namespace),
    wording=Wording(none="no admission policy matches pods", empty=_empty, runbook="policy-refuses"),
    hints=("faults",),
)
