"""One verdict out of every answer that the server can give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from kubectl_kres.admission.outcome import Finding, Outcome
from kubectl_kres.reports.explanation import Unseen, Verdict


def verdict_of(outcomes: Sequence[Outcome]) -> Verdict:
    """The first refusal, if there is one, with the other things that the server may say instead."""
    refused = [outcome for outcome in outcomes if outcome.refusal is not None]
    if not refused:
        return Verdict(allowed=True, code=outcomes[0].code)
    first = refused[0]
    refusal = first.refusal
    findings = refusal.findings if refusal is not None else ()
    others = tuple(dict.fromkeys(one.message for one in refused[1:] if one.message != first.message))
    allowed = False if len(refused) == len(outcomes) else None
    return Verdict(allowed, first.code, first.message, first.reason, first.causes, tuple(_once(findings)), others)


def worded(verdict: Verdict, unseen: Iterable[Unseen]) -> Verdict:
    """The verdict with its word. ``unseen``: what could not be read.

    Of refusals only that for what a container does not state can end with what was not read: a LimitRange may fill it
    in.
    """
    missing = {one.kind for one in unseen if one.required}
    if verdict.allowed is None:
        return structs.replace(verdict, outcome="depends-on-order")
    if verdict.allowed:
        return structs.replace(verdict, outcome="admitted-as-far-as-seen" if missing else "admitted")
    fillable = "failed quota: " in verdict.message and "LimitRange" in missing
    return structs.replace(verdict, outcome="refused-as-far-as-seen" if fillable else "refused")


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each sentence once: a quota's names all of its resources, and stands behind each of them."""
    said: set[str] = set()
    for finding in findings:
        yield structs.replace(finding, text="") if finding.text in said else finding
        said.add(finding.text)
