"""A verdict in one word, and the first line of an answer: what becomes of the object, which object, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.render.text.line import Tone
from kubectl_kres.render.verdict.cause import cause
from kubectl_kres.reports.common.explanation import Autoscaled, Blocked, Explanation, Unseen, Verdict, is_held_up
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.pod.verdict import AS_FAR_AS_SEEN, word_of

#: After an answer that what could not be read might change.
PARTLY = " as far as seen"

#: Red is what a gate stops, amber what somebody should know.
_TONES: Mapping[str, Tone] = {
    "admitted": "good",
    "full": "warn",
    "refused": "bad",
    "blocked": "bad",
    "partly": "bad",
    "depends-on-order": "warn",
    "no-answer": "bad",
}


def verdict_word(verdict: Verdict) -> tuple[str, Tone]:
    """The word, without whether all could be read, and its tone."""
    word = word_of(verdict)
    return word, _TONES[word]


def message_of(verdict: Verdict) -> str:
    """The message; Tekton's webhooks put each fault on a line of its own."""
    return verdict.message.replace("\n", "; ")


def blind(unseen: Iterable[Unseen]) -> bool:
    """Whether LimitRanges could not be read, which may fill in what is not stated."""
    return any(unseen.kind == "LimitRange" for unseen in unseen)


def partly(message: str, unseen: Iterable[Unseen]) -> str:
    """What to say after a refusal for what a container does not state, where LimitRanges that were not read might."""
    return PARTLY if "failed quota: " in message and blind(unseen) else ""


#: Words beside which it matters whether what is there runs; the others say that it does not.
CALM = frozenset({"admitted", "full"})
_STATE_TONES: Mapping[str, Tone] = {"waits": "bad", "fails": "bad", "off": "warn", "starting": "warn"}

#: What the pod itself is called where its containers have names.
LEVEL = "the pod level"


def headline(explanation: Explanation, now: str = "") -> tuple[Tone, str, str]:
    """Return tone and word, and what follows on the line. ``now`` (RFC 3339): times are ages then."""
    verdict = explanation.verdict
    word, tone = verdict_word(verdict)
    seen = PARTLY if verdict.outcome.endswith(AS_FAR_AS_SEEN) else ""
    if seen and tone == "good":
        tone = "warn"
    state = explanation.run_state
    text = f": {explanation.subject.full}"
    if word in CALM and state is not None and state.word not in {"runs", "ended"}:
        from kubectl_kres.render.verdict.run_state import beside, said

        tone = _STATE_TONES.get(state.word, tone)
        text = f"{beside(state)}{text}{': ' if said(state) else ''}{said(state, now)}"
    if word == "admitted":
        text += _admitted(explanation)
    else:
        names = {
            "spec": LEVEL,
            **{container.path: container.name for container in reversed(explanation.containers) if container.name},
        }
        because = why(verdict, explanation.replicas, names, live=explanation.live, ended=_ended(explanation))
        text += f"{';' if ': ' in text.removeprefix(': ') else ':'} {because}"
    if state is None or not is_held_up(state):
        text += _held(explanation)
        if word == "admitted":
            text += _killed(explanation)
    if seen:
        own = (explanation.subject.kind, explanation.subject.name)
        missing = [unseen for unseen in explanation.unseen if unseen.required]
        text += "; how many pods it makes is not known" if own in {(item.kind, item.name) for item in missing} else ""
        kinds = dict.fromkeys(item.kind for item in missing if (item.kind, item.name) != own)
        text += f"; {' and '.join(kinds)} could not be read" if kinds else ""
    return tone, f"{word}{seen}", text


def why(
    verdict: Verdict,
    pods: Replicas | None = None,
    names: Mapping[str, str] | None = None,
    *,
    live: bool = False,
    ended: bool = False,
    beside_ready: bool = False,
) -> str:
    """Return why it is the word that it is: what is missing, and the cause. Empty for what is admitted.

    ``names``: of containers, by path. ``live``: of a pod that exists; ``ended``: of a run that has. ``beside_ready``:
    how many pods there are stands beside it, but not how many of them are of an older template.
    """
    if beside_ready and not (pods is not None and pods.updated is not None and pods.newest < pods.existing):
        pods = None
    because = cause(verdict.findings, names) or verdict.message
    match word_of(verdict):
        case "full":
            there = "" if beside_ready and not ended else f"{_there(pods, live=live, ended=ended)}; "
            return f"{there}{_another(live=live, ended=ended)}: {because}"
        case "refused" | "no-answer":
            return f"ended; a new run would be refused: {because}" if ended else f"{_missing(pods)}{because}"
        case "blocked" if verdict.blocked is not None:
            return f"{_missing(pods)}{rejected(verdict.blocked)}"
        case "partly":
            return f"{_missing(pods)}{only_fit(verdict)}"
        case "depends-on-order":
            return f"{_missing(pods)}admitted, or refused by the order of LimitRanges or quotas: {because}"
    return ""


def at_maximum(reach: Autoscaled) -> str:
    """How far an autoscaler gets, and what quotas lack for the rest."""
    who = f"autoscaler {reach.autoscaler}"
    if reach.fits >= reach.most:
        return f"{who}: all {reach.most} replicas that it may ask for fit"
    lacks = ", ".join(
        f"quota {shortfall.quota} lacks {shortfall.short} of {shortfall.resource}" for shortfall in reach.lacks
    )
    return f"{who}: at {reach.most} replicas {reach.fits} fit{f'; {lacks}' if lacks else ''}"


def rejected(blocked: Blocked) -> str:
    """Who rejects the pods, how often and when last."""
    if not blocked.times:
        return f"{blocked.by} rejects them{f' (since {blocked.last})' if blocked.last else ''}"
    times = f"{blocked.times} times" if blocked.times > 1 else "once"
    last = f", last {blocked.last}" if blocked.last else ""
    return f"{blocked.by} rejects them ({times}{last})"


def counted(pods: Replicas) -> str:
    """How many pods there are, by template where an older one still has some."""
    if pods.updated is not None and pods.newest < pods.existing:
        run = "old pod runs" if pods.old == 1 else "old pods run"
        return f"{pods.newest} of {pods.wanted} updated, {pods.old} {run}"
    if pods.existing > pods.wanted:
        more = pods.existing - pods.wanted
        return f"all {pods.wanted} pods exist, and {more} more" if pods.wanted else f"{more} pods exist, none is wanted"
    return f"{pods.existing} of {pods.wanted} pods exist"


def _missing(pods: Replicas | None) -> str:
    if pods is None or not pods.wanted:
        return ""
    return f"{counted(pods)}; "


def _there(pods: Replicas | None, *, live: bool, ended: bool) -> str:
    if ended:
        return "ended"
    if live:
        return "exists"
    if pods is None or not pods.wanted:
        return (pods.resting if pods is not None else "") or "it wants no pods at present"
    return counted(pods) if pods.old else f"all {pods.wanted} pods exist" if pods.wanted > 1 else "its pod exists"


def _another(*, live: bool, ended: bool) -> str:
    return "a new run would be refused" if ended else f"a further pod{' like it' * live} would be refused"


def only_fit(verdict: Verdict) -> str:
    """How many of the missing pods are admitted where not all are."""
    return f"only {verdict.fits} of the {verdict.missing} missing pods fit{_limits(verdict)}"


def _limits(verdict: Verdict) -> str:
    return f": {cause(verdict.findings)}" if verdict.findings else ""


def _ended(explanation: Explanation) -> bool:
    return explanation.tekton is not None and explanation.tekton.about_another


def _admitted(explanation: Explanation) -> str:
    order = "" if explanation.certain else ", with values that depend on the order of LimitRanges"
    pods = explanation.replicas
    have = f"; {counted(pods)}" if pods is not None and (pods.missing or pods.old) else ""
    return f"{order}{have}{_drift(explanation)}"


def _held(explanation: Explanation) -> str:
    part = explanation.tekton
    return f"; {held_text(part.held)}" if part is not None and part.held else ""


def _killed(explanation: Explanation) -> str:
    """The first container of a run that was killed for memory."""
    for killed in explanation.tekton.killed if explanation.tekton is not None else ():
        limit = f" at its limit {killed.limit}" if killed.limit else ""
        return f"; {killed.name} was killed for memory{limit}{', and would be again' if killed.again else ''}"
    return ""


def held_text(status: str) -> str:
    """That a run waits until somebody lets it go."""
    return f"held back: spec.status is {status}, nothing of it is made until that is taken out"


def _drift(explanation: Explanation) -> str:
    """How many live values admission would not set today."""
    count = sum(1 for container in explanation.containers for value in container.values if value.note)
    if not count:
        return ""
    return f"; {count} live value{'s differ' if count > 1 else ' differs'} from today's"
