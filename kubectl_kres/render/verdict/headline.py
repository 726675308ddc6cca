"""The first line of an answer: the verdict in a word, which object, and why it is refused, in a few words of what was
compared.
"""

# ruff: noqa: PLC0415 - the catalogue of rules and states of runs are for odd refusals and pods that do not run
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubectl_kres.admission.base.outcome import Finding
from kubectl_kres.quantity import parse
from kubectl_kres.render.text.line import LABEL, Line, Tone, age_text, clip_text, duration_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.render.verdict.note import idle_text
from kubectl_kres.reports.common.explanation import (
    Autoscaled,
    Blocked,
    Explanation,
    Fact,
    FailedRead,
    Verdict,
    facts_that_say,
    waits_or_fails,
)
from kubectl_kres.reports.common.replicas import IdleReason, Replicas
from kubectl_kres.reports.pod.verdict import AS_FAR_AS_SEEN, codes_of, outcome_word
from kubectl_kres.reports.rollout.wanted_pods import EXCEEDED, quota_shortfall
from kubectl_kres.wording import join_words

#: So many causes are named; the rest is counted.
_MOST = 2
#: Cells of a sentence that is not ours.
_LONGEST = 160
#: How the server says the level that a pod breaks.
_LEVEL = r'PodSecurity "([a-z]+):'
#: How the server says the ratio that it found.
_RATIO = r"provided ratio is ([0-9.]+)"
_BOUNDS = {"limitrange/max": "above the max", "limitrange/min": "below the min"}


def cause(findings: Sequence[Finding], names: Mapping[str, str] | None = None) -> str:
    """Return the causes, the first ones in words. ``names``: of containers, by path. Empty without findings."""
    texts = list(dict.fromkeys(_causes(findings, names or {})))
    more = f" (and {len(texts) - _MOST} more)" if len(texts) > _MOST else ""
    return f"{'; '.join(texts[:_MOST])}{more}"


def list_causes(explanation: Explanation) -> tuple[str, ...]:
    """Return each reason why it is refused in words, those with which the server would refuse it next among them."""
    names = _container_names(explanation)
    causes = (*_causes(explanation.verdict.findings, names), *_causes(explanation.further, names))
    return tuple(dict.fromkeys(causes))


def quota_figures(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what a pod asks for of each name of a quota that is full, and what is used of it."""
    for finding in findings:
        if finding.rule == "quota/exceeded" and finding.requested and finding.used and finding.limit:
            # Of another object that is made for pods, one more is asked for.
            counted = finding.resource.startswith("count/") and finding.resource != "count/pods"
            requested_text = (
                f"{finding.requested} more is asked for" if counted else f"a pod asks for {finding.requested}"
            )
            yield (
                f"{_object(finding)}: {requested_text} of {finding.resource}, "
                f"{finding.used} of {finding.limit} {'is' if finding.used in {'0', '1'} else 'are'} used"
            )


#: The rules that a pod breaks the level of its namespace: of the API server, and as Tekton tells it.
_LEVELS = ("pod-security/violated", "tekton/pod-security")


def _causes(findings: Sequence[Finding], names: Mapping[str, str]) -> Iterator[str]:
    """Yield those of one quota together."""
    exceeded: dict[str, list[Finding]] = {}
    stated: dict[str, list[Finding]] = {}
    for finding in findings:
        lacks = finding.rule in EXCEEDED and bool(finding.limit)
        group = exceeded if lacks else stated if finding.rule == "quota/must-specify" else None
        if group is not None:
            group.setdefault(_object(finding), []).append(finding)
    texts: set[str] = set()
    for finding in findings:
        if finding.rule in _LEVELS:
            if finding.rule not in texts:
                yield _level_text([other for other in findings if other.rule == finding.rule])
            texts.add(finding.rule)
            continue
        object_text = _object(finding)
        if finding.rule in EXCEEDED and finding.limit:
            if object_text not in texts:
                short = (f"{quota_shortfall(finding)} of {finding.resource}" for finding in exceeded[object_text])
                missing_text = join_words(dict.fromkeys(short))
                yield f"{object_text} is short by {missing_text}"
        elif finding.rule == "quota/must-specify":
            if object_text not in texts:
                amounts = join_words(dict.fromkeys(finding.resource for finding in stated[object_text]))
                yield f"{object_text} requires {amounts} on every container"
        else:
            yield _format_finding(finding, names)
            continue
        texts.add(object_text)


def _level_text(findings: Sequence[Finding]) -> str:
    """Return how many settings the Pod Security level of a namespace wants; the first finding has the sentence, and
    that of Tekton is the only one.
    """
    level, source = re.search(_LEVEL, findings[0].text), findings[0].source
    name = f' "{level[1]}"' if level else ""
    space = f" of namespace {source.name}" if source is not None else ""
    count = len(findings) if findings[0].rule == _LEVELS[0] else findings[0].text.count("), ") + 1
    return f"Pod Security{name}{space} wants {count} setting{'s' * (count != 1)}"


def _format_finding(finding: Finding, names: Mapping[str, str]) -> str:
    value = _value(finding, names)
    if finding.rule in _BOUNDS and finding.limit:
        if _is_in_bound(finding):
            side, bound = ("limit", "max") if finding.rule == "limitrange/max" else ("request", "min")
            return f"{value} has no {side}, which the {bound} {finding.limit} of {_object(finding)} asks for"
        return f"{value} {finding.requested} is {_BOUNDS[finding.rule]} {finding.limit} of {_object(finding)}"
    if finding.rule == "limitrange/ratio":
        resource, _, holder = value.partition(" of ")
        whose = f" of {holder}" if holder else ""
        ratio = re.search(_RATIO, finding.text)
        if ratio is None:
            return f"{resource} limit{whose} is more than {finding.limit}x its request, which {_object(finding)} allows"
        times = f"{float(ratio[1]):g}x"
        return f"{resource} limit{whose} is {times} its request, {_object(finding)} allows {finding.limit}x"
    if finding.rule == "validation/request-over-limit" and finding.limit:
        asked = f" {finding.requested}" if finding.requested else ""
        return f"{value}{asked} is above its limit {finding.limit}"
    if finding.rule == "quantity/unparsable" and finding.observed:
        return f'{value} is "{clip_text(finding.observed, _LONGEST)}", which is no quantity'
    if finding.text:
        value_prefix = f"{value}: " if finding.rule == "quantity/unparsable" else ""
        return clip_text(f"{value_prefix}{finding.text}", _LONGEST)
    from kubectl_kres.provenance.rules import RULES

    title = RULES[finding.rule].title.rstrip(".") if finding.rule in RULES else finding.rule
    return f"{value}: {title}" if finding.path else title


def _is_in_bound(finding: Finding) -> bool:
    """Return whether what is set keeps to a bound, so that what is not set is refused."""
    if not finding.requested:
        return True
    requested, limit = parse(finding.requested), parse(finding.limit)
    return requested <= limit if finding.rule == "limitrange/max" else limit <= requested


def _value(finding: Finding, names: Mapping[str, str]) -> str:
    """Return the value as people name it: ``limits.cpu of container app``."""
    field_path = finding.field_path
    resource = (
        f"{field_path.requests_or_limits}.{field_path.resource or finding.resource}"
        if field_path.requests_or_limits
        else finding.resource
    )
    holder = names.get(str(field_path.holder), "")
    if not resource:
        return finding.path
    return f"{resource} of {holder}" if holder else resource


def _object(finding: Finding) -> str:
    source = finding.source
    if source is None:
        return "a policy"
    return f"quota {source.name}" if source.kind == "ResourceQuota" else f"{source.kind} {source.name}"


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
    """Return the word, without whether all could be read, and its tone."""
    word = outcome_word(verdict)
    return word, _TONES[word]


def refusal_reason(verdict: Verdict, names: Mapping[str, str] | None = None) -> str:
    """Return why it is refused, in words where they are known, else as the server says it; empty where nothing does.

    ``names``: of containers, by path.
    """
    return cause(verdict.findings, names) or verdict.message


def one_line_message(verdict: Verdict) -> str:
    """Return the message; Tekton's webhooks put each fault on a line of its own."""
    return verdict.message.replace("\n", "; ")


def server_text(message: str, facts: Iterable[Fact] = (), *, shown: str = "") -> str:
    """Return the server's sentence, or the part of it that is ``shown``; one that is in none of these facts has been
    said by no server so far.
    """
    return shown or message if facts_that_say(message, facts) else f"would say: {shown or message}"


def lacks_limit_ranges(failed_reads: Iterable[FailedRead]) -> bool:
    """Return whether LimitRanges could not be read, which may fill in what is not stated."""
    return any(failed_read.kind == "LimitRange" for failed_read in failed_reads)


def unread_caveat(message: str, failed_reads: Iterable[FailedRead]) -> str:
    """Return what to say after a refusal for what a container does not state, where LimitRanges that were not read
    might.
    """
    return PARTLY if "failed quota: " in message and lacks_limit_ranges(failed_reads) else ""


#: Words beside which it matters whether what is there runs; the others say that it does not.
CALM = frozenset({"admitted", "full"})
_STATE_TONES: Mapping[str, Tone] = {"waits": "bad", "fails": "bad", "off": "warn", "starting": "warn"}

#: What the pod itself is called where its containers have names.
LEVEL = "the pod level"


def headline(explanation: Explanation, now: str = "", causes: int = 1) -> tuple[Tone, str, str]:
    """Return tone and word, and what follows on the line. ``now`` (RFC 3339): times are ages then. ``causes``: how many
    reasons of a refusal stand below it; 1: the reason stands in the line.
    """
    verdict = explanation.verdict
    word, tone = verdict_word(verdict)
    seen = PARTLY if verdict.outcome.endswith(AS_FAR_AS_SEEN) else ""
    if seen and tone == "good":
        tone = "warn"
    state = explanation.run_state
    text = f": {explanation.subject.full_name}"
    # Who keeps a queue admits, too, and has not: the word of the API server would say the opposite.
    queued = word in CALM and state is not None and (state.state, state.reason) == ("waits", "Queue")
    if word in CALM and state is not None and state.state not in {"runs", "ended"}:
        from kubectl_kres.render.verdict.run_state import state_sentence, state_suffix

        tone = _STATE_TONES.get(state.state, tone)
        suffix = "" if queued else state_suffix(state)
        text = f"{suffix}{text}{': ' if state_sentence(state) else ''}{state_sentence(state, now)}"
    if word in CALM and state is None and _fits_no_node(explanation):
        from kubectl_kres.render.verdict.run_state import why_no_node

        tone = "bad"
        text = f", but fits no node{text}{why_no_node(explanation.scheduling)}"
    if word == "admitted":
        text += _format_admission(explanation)
    else:
        reason = verdict_reason(
            verdict,
            explanation.replicas,
            _container_names(explanation),
            live=explanation.live,
            has_ended=explanation.about_another,
            now=now,
        )
        if word == "refused" and causes > 1:
            ended = explanation.about_another
            reason = "ended; a new run would be refused" if ended else _format_missing_pods(explanation.replicas)
            reason = reason.removesuffix("; ")
        text += f"{';' if ': ' in text.removeprefix(': ') else ':'} {reason}" if reason else ""
        text = f", {causes} reasons{text}" if word == "refused" and causes > 1 else text
        if word not in CALM and state is not None and state.since:
            age = f"{duration_text(state.since, now)})"
            # A condition that rejects has no other time than this.
            if not text.endswith(f"({age}"):
                text = f"{text[:-1]}; {age}" if text.endswith(")") else f"{text} ({age}"
    if state is None or not waits_or_fails(state):
        admitted = word == "admitted"
        remarks = (remark for system in systems() for remark in system.headline_remarks(explanation, admitted=admitted))
        text += "".join(f"; {remark}" for remark in remarks)
        if word in CALM:
            text += _running_problem(explanation)
    if seen:
        own_ref = (explanation.subject.kind, explanation.subject.name)
        missing = [failed_read for failed_read in explanation.unread if failed_read.required]
        text += (
            "; how many pods it makes is not known" if own_ref in {(item.kind, item.name) for item in missing} else ""
        )
        kinds = dict.fromkeys(item.kind for item in missing if (item.kind, item.name) != own_ref)
        text += f"; {' and '.join(kinds)} could not be read" if kinds else ""
    return tone, f"{'waits' if queued else word}{seen}", text


def _container_names(explanation: Explanation) -> dict[str, str]:
    """Return the names of containers by path."""
    named = {container.path: container.name for container in reversed(explanation.containers) if container.name}
    return {"spec": LEVEL, **named}


def _fits_no_node(explanation: Explanation) -> bool:
    """Return whether no node takes the next pod of what does not exist yet, whatever else is not known."""
    return explanation.scheduling is not None and explanation.scheduling.no_node_fits


def verdict_reason(
    verdict: Verdict,
    pods: Replicas | None = None,
    names: Mapping[str, str] | None = None,
    *,
    live: bool = False,
    has_ended: bool = False,
    beside_ready: bool = False,
    now: str = "",
) -> str:
    """Return why it is the word that it is: what is missing, and the cause. Empty for what is admitted.

    ``names``: of containers, by path. ``live``: of a pod that exists; ``has_ended``: of a run that has.
    ``beside_ready``: how many pods there are stands beside it, but not how many of them are of an older template.
    ``now`` (RFC 3339): times are ages.
    """
    if beside_ready and not (pods is not None and pods.updated is not None and pods.newest < pods.existing):
        pods = None
    reason = refusal_reason(verdict, names)
    match outcome_word(verdict):
        case "full":
            exists = (
                ""
                if beside_ready and not has_ended
                else f"{_format_existence(verdict, pods, live=live, has_ended=has_ended)}; "
            )
            return f"{exists}{_format_next_refusal(live=live, has_ended=has_ended)}: {reason}"
        case "refused" | "no-answer":
            return (
                f"ended; a new run would be refused: {reason}" if has_ended else f"{_format_missing_pods(pods)}{reason}"
            )
        case "blocked" if verdict.blocked is not None:
            rejection = (
                f"{sentence_text(verdict.blocked.by)} rejects them"
                if beside_ready
                else rejection_text(verdict.blocked, now)
            )
            return f"{_format_missing_pods(pods)}{rejection}"
        case "partly":
            return f"{_format_missing_pods(pods)}{only_fit(verdict)}"
        case "depends-on-order":
            missing = _format_missing_pods(pods)
            return f"{missing}admitted or refused depending on the order of LimitRanges or quotas: {reason}"
    return ""


def at_maximum(reach: Autoscaled) -> str:
    """Return how far an autoscaler gets, and what quotas lack for the rest."""
    autoscaler = f"autoscaler {reach.autoscaler}"
    if reach.fits >= reach.max_replicas:
        return f"{autoscaler}: all {reach.max_replicas} replicas that it may ask for fit"
    lacks = ", ".join(
        f"quota {shortfall.quota} is short by {shortfall.short_by} of {shortfall.resource}"
        for shortfall in reach.shortfalls
    )
    return f"{autoscaler}: at {reach.max_replicas} replicas {reach.fits} fit{f'; {lacks}' if lacks else ''}"


def rejection_text(blocked: Blocked, now: str = "") -> str:
    """Return who rejects the pods, how often and when last. ``now`` (RFC 3339): as an age."""
    ago, by = age_text(blocked.last, now), sentence_text(blocked.by)
    if not blocked.times:
        return f"{by} rejects them{f' ({duration_text(blocked.last, now)})' if blocked.last else ''}"
    times = f"{blocked.times} times" if blocked.times > 1 else "once"
    last = f", last {f'{ago} ago' if ago else blocked.last}" if blocked.last else ""
    return f"{by} rejects them ({times}{last})"


def pod_count_text(pods: Replicas) -> str:
    """Return how many pods there are, by template where an older one still has some."""
    if pods.updated is not None and pods.newest < pods.existing:
        run = "old pod runs" if pods.old_pods == 1 else "old pods run"
        return f"{pods.newest} of {pods.wanted} updated, {pods.old_pods} {run}"
    if pods.existing > pods.wanted:
        more = pods.existing - pods.wanted
        if not pods.wanted:
            return f"{more} pod{' exists' if more == 1 else 's exist'}, none is wanted"
        there = "its pod exists" if pods.wanted == 1 else f"all {pods.wanted} pods exist"
        return f"{there}, and {more} more"
    return existing_text(pods)


def existing_text(pods: Replicas) -> str:
    """``2 of 3 pods exist``."""
    return f"{pods.existing} of {pods.wanted} pod{' exists' if pods.wanted == 1 else 's exist'}"


def _format_missing_pods(pods: Replicas | None) -> str:
    if pods is None or not pods.wanted:
        return ""
    return f"{pod_count_text(pods)}; "


def _format_existence(verdict: Verdict, pods: Replicas | None, *, live: bool, has_ended: bool) -> str:
    if has_ended:
        return "ended"
    if live:
        return "exists"
    if pods is None:
        # Of a file that is applied to what exists.
        return "its pods come as old ones end" if verdict.missing else "it needs no further pod"
    if not pods.wanted:
        return idle_text(pods.idle_reason or IdleReason("none-wanted"))
    return (
        pod_count_text(pods)
        if pods.old_pods
        else f"all {pods.wanted} pods exist"
        if pods.wanted > 1
        else "its pod exists"
    )


def _format_next_refusal(*, live: bool, has_ended: bool) -> str:
    return "a new run would be refused" if has_ended else f"a further pod{' like it' * live} would be refused"


def only_fit(verdict: Verdict) -> str:
    """Return how many of the missing pods are admitted where not all are."""
    return f"only {verdict.fits} of the {verdict.missing} missing pods fit{'s' * (verdict.fits == 1)}{_limits(verdict)}"


def _limits(verdict: Verdict) -> str:
    return f": {cause(verdict.findings)}" if verdict.findings else ""


def _format_admission(explanation: Explanation) -> str:
    order = "" if explanation.certain else ", with values that depend on the order of LimitRanges"
    pods = explanation.replicas
    state = explanation.run_state
    told = state is not None and state.reason == "NotCreated" and not state.detail
    incomplete = pods is not None and (pods.old_pods or (pods.missing_pods and not told))
    have = f"; {pod_count_text(pods)}" if pods is not None and incomplete else ""
    return f"{order}{have}{_format_drift(explanation)}"


def _running_problem(explanation: Explanation) -> str:
    """Return what goes wrong with pods that were admitted: one that is killed for memory, a resize that the node puts
    off, an eviction.
    """
    state = explanation.run_state
    if state is not None and state.state == "ended" and any(fact.reason == "Evicted" for fact in explanation.facts):
        return "; it was evicted"
    if state is not None and state.state == "runs" and state.reason == "OOMKilled":
        many = f" ({state.pods} of {state.wanted} pods)" if state.wanted > 1 and state.pods else ""
        return f"; {sentence_text(state.detail)}{many}"
    put_off = next((fact.reason for fact in explanation.facts if fact.reason in _PUT_OFF), "")
    return f"; its resize is {put_off.lower()}" if put_off else ""


def _format_drift(explanation: Explanation) -> str:
    """Return how many live values admission would not set today."""
    count = sum(1 for container in explanation.containers for value in container.values if value.note)
    if not count:
        return ""
    return f"; {count} live value{'s differ' if count > 1 else ' differs'} from what it would get today"


#: Conditions of a pod whose resize the node does not make, now or ever.
_PUT_OFF = frozenset({"Deferred", "Infeasible"})
#: Codes that are named of one refusal.
_CODES = 2


def code_line(verdict: Verdict) -> Iterator[Line]:
    """Yield the command that says what the code of a refusal means; nothing where nothing refuses."""
    yield from codes_line(codes_of(verdict)[:_CODES])


def codes_line(codes: Sequence[str]) -> Iterator[Line]:
    """Yield the command that says what codes mean; nothing without codes."""
    if codes:
        yield [("strong", f"{'code':<{LABEL}}"), ("command", f"kubectl kres help {' '.join(codes)}")]
