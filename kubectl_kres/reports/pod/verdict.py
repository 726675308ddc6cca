"""The verdict: one word for all answers that the server can give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, cast

from msgspec import Struct, structs

from kubectl_kres.admission.base.outcome import Finding, Outcome
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import Blocked, FailedRead, LaterChange, OutcomeWord, Verdict
from kubectl_kres.reports.common.system import kinds_of

#: Ends a word where something that could not be read may change the verdict.
AS_FAR_AS_SEEN: Final = "-as-far-as-seen"

#: The words, in the order in which docs/verdicts.md says what they mean.
OUTCOMES: Final = ("admitted", "full", "refused", "blocked", "partly", "depends-on-order", "no-answer")


def codes_of(verdict: Verdict) -> tuple[str, ...]:
    """Return the codes of the rules that refuse, in order; empty if nothing does."""
    codes = [finding.rule for finding in verdict.findings]
    if verdict.blocked is not None:
        codes.append(verdict.blocked.rule)
    if verdict.fits is not None and not codes:
        # The next pod is admitted; one after it exceeds a quota.
        codes.append("quota/exceeded")
    return tuple(dict.fromkeys(filter(None, codes)))


def list_refusers(verdict: Verdict) -> tuple[ObjectRef, ...]:
    """Return the objects whose rules refuse, each once, in order; empty if none does."""
    return tuple(dict.fromkeys(finding.source.ref for finding in verdict.findings if finding.source is not None))


#: The words that ``--exit-code`` answers with 1, and that keep ``--until admitted`` waiting.
NEGATIVE: Final = frozenset({"refused", "blocked", "partly", "depends-on-order", "no-answer"})


class NeededPods(Struct, frozen=True):
    """The pods that are still wanted: ``missing`` pods, 1 for an object that is explained itself.

    ``fits``: how many of them are admitted one after the other; None: all. ``blocked``: who rejected them last.
    ``changed``: what changed after their last refusal, which stands no longer. ``comes``: a rollout is under way that
    ends with all of them, as old pods make room.
    """

    missing: int = 1
    fits: int | None = None
    blocked: Blocked | None = None
    changed: tuple[LaterChange, ...] = ()
    comes: bool = False


#: Of an object that is asked about itself, and of a pod that nobody counts.
ITSELF: Final = NeededPods()


def outcome_word(verdict: Verdict) -> OutcomeWord:
    """Return the word without ``as-far-as-seen``."""
    return cast("OutcomeWord", verdict.outcome.removesuffix(AS_FAR_AS_SEEN))


def is_negative(verdict: Verdict) -> bool:
    """Return whether the verdict is one at which a gate must fail."""
    return outcome_word(verdict) in NEGATIVE


def verdict_of(outcomes: Sequence[Outcome]) -> Verdict:
    """Return the verdict: the first refusal, if there is one, with the server's possible other answers."""
    refused = [outcome for outcome in outcomes if outcome.refusal is not None]
    if not refused:
        return Verdict(allowed=True, code=outcomes[0].code)
    first = refused[0]
    refusal = first.refusal
    findings = refusal.findings if refusal is not None else ()
    others = tuple(dict.fromkeys(outcome.message for outcome in refused[1:] if outcome.message != first.message))
    allowed = False if len(refused) == len(outcomes) else None
    return Verdict(
        allowed, first.code, first.message, first.reason, first.causes, tuple(_drop_repeated_texts(findings)), others
    )


def with_outcome(verdict: Verdict, failed_reads: Iterable[FailedRead], needed_pods: NeededPods = ITSELF) -> Verdict:
    """Return the verdict with its word. ``failed_reads``: what could not be read."""
    word = _verdict_word(verdict, needed_pods)
    deciding = kinds_of("decides")
    kinds = {failed_read.kind for failed_read in failed_reads if failed_read.required or failed_read.kind in deciding}
    partial = _may_change(word, verdict, kinds)
    return structs.replace(
        verdict,
        outcome=cast("OutcomeWord", f"{word}{AS_FAR_AS_SEEN if partial else ''}"),
        missing=needed_pods.missing,
        fits=needed_pods.fits if word == "partly" else None,
        blocked=needed_pods.blocked if word == "blocked" else None,
        changed=needed_pods.changed if word in {"admitted", "partly"} else (),
    )


def _verdict_word(verdict: Verdict, needed_pods: NeededPods) -> str:
    if not needed_pods.missing or (needed_pods.comes and verdict.allowed is not True):
        return "admitted" if verdict.allowed is True else "full"
    if verdict.allowed is None:
        return "depends-on-order"
    if not verdict.allowed:
        return "no-answer" if verdict.reason == "NoAnswer" else "refused"
    if needed_pods.blocked is not None:
        return "blocked"
    return "partly" if needed_pods.fits is not None and needed_pods.fits < needed_pods.missing else "admitted"


def _may_change(word: str, verdict: Verdict, kinds: set[str]) -> bool:
    """Return whether kinds that were not read may change the word.

    Of refusals only one for a missing value can end with them: a LimitRange may fill it in.
    """
    if word in {"refused", "full", "no-answer"}:
        return "LimitRange" in kinds and any(finding.rule == "quota/must-specify" for finding in verdict.findings)
    return bool(kinds)


def _drop_repeated_texts(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield each sentence once: a quota's names all of its resources, and is repeated for each of them."""
    text: set[str] = set()
    for finding in findings:
        yield structs.replace(finding, text="") if finding.text in text else finding
        text.add(finding.text)
