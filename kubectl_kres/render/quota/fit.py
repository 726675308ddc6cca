"""What fits, and which workloads are refused, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from kubectl_kres.render.scheduling import no_node_lines, room_text, unread_text
from kubectl_kres.render.text.line import LABEL, Line, Tone, age_text, draw, pad_text, tone_lines, wrap_text
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.text.system import systems
from kubectl_kres.render.text.values import cost_lines
from kubectl_kres.render.verdict import headline
from kubectl_kres.render.verdict.brief import Brief, with_remedies
from kubectl_kres.render.verdict.remedy import first_fix_lines
from kubectl_kres.render.verdict.run_state import state_sentence
from kubectl_kres.reports.common.explanation import waits_or_fails
from kubectl_kres.reports.common.replicas import Replicas
from kubectl_kres.reports.common.system import kinds_of
from kubectl_kres.reports.quota.denied import Denied
from kubectl_kres.reports.quota.fit import Fit
from kubectl_kres.reports.rollout.rolling_update import RolloutResult


def lines(fit: Fit, *, color: bool = False, width: int = 80) -> Iterator[str]:
    """Return how many fit comes first; then replicas and rolling update, what one costs each quota, and the remedy."""
    for line in _fit_lines(fit, width):
        yield draw(line, color=color)


def brief(fit: Fit, more: str) -> Brief:
    """In few words. ``more``: the command that says more."""
    tone: Tone = "good" if fit.all_fit else "warn" if _has_unread_quotas(fit) else "bad"
    held_up = fit.run_state if waits_or_fails(fit.run_state) else None
    pods = next((text for _, _, text in _replicas(fit, fit.replicas)), "") if fit.replicas is not None else ""
    texts = [f"{fit.subject.full_name}{_format_tightest_quotas(fit)}", *[pods] * bool(pods)]
    texts += [fit.verdict.message] * (not fit.enough and fit.verdict.allowed is not True)
    texts += [f"{held_up.state}: {state_sentence(held_up)}"] if held_up is not None else []
    brief = Brief(tone, _count(fit), f": {'; '.join(texts)}", next=more)
    if held_up is not None and not fit.fixes:
        brief = structs.replace(brief, remedy=sentence_text(held_up.next))
    return brief if fit.enough else with_remedies(brief, fit.fixes)


def denied_brief(denied: Denied, more: str) -> Brief:
    """Return a refused workload in few words."""
    word, tone, missing = _refusal_headline(denied)
    reason = headline.one_line_message(denied.verdict).partition(" is forbidden: ")[2] or headline.one_line_message(
        denied.verdict
    )
    text = f": {denied.subject.full_name}: {missing}{f': {reason}' if denied.verdict.message else ''}"
    return with_remedies(Brief(tone, word, text, next=more), denied.fixes)


def _fit_lines(fit: Fit, width: int) -> Iterator[Line]:
    tone: Tone = "good" if fit.all_fit else "warn" if _has_unread_quotas(fit) else "bad"
    yield from tone_lines(
        tone, wrap_text(f"{_count(fit)}: {fit.subject.full_name}{_format_tightest_quotas(fit)}", width, rest="  ")
    )
    if fit.replicas is not None:
        for label, bad, text in _replicas(fit, fit.replicas):
            head = pad_text(label, 16)
            yield from tone_lines("bad" if bad else "", wrap_text(text, width, first=head, rest=" " * 16))
    for bad, text in _nodes(fit):
        yield from tone_lines("bad" if bad else "", wrap_text(text, width, first=pad_text("nodes", 16), rest=" " * 16))
    yield from _run_state_lines(fit, width)
    if fit.autoscaled is not None:
        short = fit.autoscaled.fits < fit.autoscaled.max_replicas
        text = headline.at_maximum(fit.autoscaled)
        yield from tone_lines(
            "warn" if short else "", wrap_text(text, width, first=pad_text("at most", 16), rest=" " * 16)
        )
    if fit.verdict.allowed is not True:
        yield from tone_lines(
            "bad", wrap_text(fit.verdict.message, width, first=pad_text("refusal", 16), rest=" " * 16)
        )
        for index, remedy in enumerate(fit.fixes):
            label = pad_text("or" if index else "fix", 16)
            yield from tone_lines("", wrap_text(sentence_text(remedy.text), width, first=label, rest=" " * 16))
    for cost in fit.quotas:
        yield from cost_lines(cost)
    for assumed in fit.assumptions:
        text = sentence_text(assumed.text)
        yield from tone_lines("quiet", wrap_text(text, width, first=pad_text("assumed", 16), rest=" " * 16))
    for failed_read in fit.unread:
        yield from tone_lines(
            "bad",
            wrap_text(
                f"{failed_read.kind}: {sentence_text(failed_read.message) or failed_read.state}",
                width,
                first=pad_text("unread", 16),
                rest=" " * 16,
            ),
        )
    yield from tone_lines(
        "quiet", wrap_text(", ".join(fit.not_looked_at), width, first=pad_text("not looked at", 16), rest=" " * 16)
    )


def _nodes(fit: Fit) -> Iterator[tuple[bool, str]]:
    """Yield how many such pods find a node, whether that is bad, and where none does, why."""
    nodes = fit.nodes
    if nodes is None:
        return
    if not nodes.is_read:
        yield False, unread_text(nodes)
        return
    yield not fit.finds_nodes, f"{room_text(nodes)}{_lacking_nodes(fit)}"
    if nodes.nodes and not nodes.fits:
        yield from ((True, text) for text in no_node_lines(nodes))


def _lacking_nodes(fit: Fit) -> str:
    """Return who finds no node."""
    if fit.without_node:
        verb = "finds" if fit.without_node == 1 else "find"
        return f"; {fit.without_node} of the missing replicas {verb} none"
    if fit.stalls_on_nodes:
        return "; a rollout would stall: its surge finds none, and no old pod may end first"
    if fit.surge_on_nodes is not None and fit.replicas is not None and fit.surge_on_nodes < fit.replicas.surge:
        return f"; of the {fit.replicas.surge} surge pods of a rollout {fit.surge_on_nodes or 'none'}"
    return ""


def _run_state_lines(fit: Fit, width: int) -> Iterator[Line]:
    """That the pods which exist wait or fail, and what to do next: room in quotas does not help them."""
    state = fit.run_state
    if state is None or not waits_or_fails(state) or fit.verdict.allowed is not True:
        return
    yield from tone_lines(
        "bad", wrap_text(state_sentence(state), width, first=pad_text(state.state, 16), rest=" " * 16)
    )
    if state.next:
        yield from tone_lines(
            "", wrap_text(sentence_text(state.next), width, first=pad_text("next", 16), rest=" " * 16)
        )


def _has_unread_quotas(fit: Fit) -> bool:
    return any(failed_read.kind == "ResourceQuota" for failed_read in fit.unread)


def _count(fit: Fit) -> str:
    """Return how many quotas admit, and of these how many find a node where that is fewer."""
    nodes, room = fit.nodes, fit.nodes.room if fit.nodes is not None else None
    admitted = _admitted(fit)
    if (
        nodes is None
        or room is None
        or nodes.room_at_least
        or nodes.undecided
        or not (fit.fits is None or room < fit.fits)
    ):
        return admitted
    if fit.fits is not None:
        admitted = f"{fit.fits} more such pod{'s are' if fit.fits != 1 else ' is'} admitted"
    if room:
        return f"{admitted}; nodes have room for {room}"
    return f"{admitted}, but {'it fits' if fit.fits == 1 else 'they fit'} no node"


def _admitted(fit: Fit) -> str:
    if fit.fits is None:
        return (
            "how many fit is not known, as quotas could not be read"
            if _has_unread_quotas(fit)
            else "no quota limits such pods"
        )
    if fit.verdict.allowed is None or fit.at_most is not None:
        most = "any number of" if fit.at_most is None else fit.at_most
        return f"{fit.fits or 'no'} or {most} more such pods fit, by the order of LimitRanges"
    if fit.fits and waits_or_fails(fit.run_state):
        return f"quotas have room for {fit.fits} more such pod{'s' * (fit.fits != 1)}"
    return (
        f"{fit.fits} more such pod{'s' * (fit.fits != 1)} fit{'s' * (fit.fits == 1)}"
        if fit.fits
        else f"no such pod fits{headline.unread_caveat(fit.verdict.message, fit.unread)}"
    )


def _format_tightest_quotas(fit: Fit) -> str:
    if not fit.tightest or fit.fits is None:
        return ""
    quotas = " and ".join(fit.tightest)
    return f" (quota{'s' * (len(fit.tightest) > 1)} {quotas})"


def _replicas(fit: Fit, replicas: Replicas) -> Iterator[tuple[str, bool, str]]:
    """Label, whether it is bad, and sentence."""
    have = headline.pod_count_text(replicas)
    if fit.not_fitting:
        verb = "does" if fit.not_fitting == 1 else "do"
        yield "replicas", True, f"{have}; {fit.not_fitting} of the {replicas.missing_pods} missing {verb} not fit"
    elif replicas.missing_pods and waits_or_fails(fit.run_state):
        yield "replicas", True, f"{have}; quotas have room for the {replicas.missing_pods} missing"
    elif replicas.missing_pods and not _has_unread_quotas(fit):
        yield "replicas", False, f"{have}; the {replicas.missing_pods} missing fit{'s' * (replicas.missing_pods == 1)}"
    else:
        yield "replicas", False, have
    yield from _rollout(fit, replicas)


def _rollout(fit: Fit, replicas: Replicas) -> Iterator[tuple[str, bool, str]]:
    """Return how the rollout goes that is under way, or that could be started, and what stands in its way."""
    label = "rolling update" if replicas.strategy != "Recreate" else "update"
    rollout_result: RolloutResult | None = fit.next_rollout_end
    if fit.rollout is not None:
        rollout_result = fit.rollout
        if rollout_result.complete:
            yield label, False, "under way: it completes, as old pods make room"
        else:
            yield label, True, f"under way and stuck{_end_words(rollout_result)}"
    elif fit.next_rollout is not None:
        yield label, fit.next_rollout in {"slow", "shrinking", "stuck"}, _format_rollout(fit, replicas)
    if rollout_result is not None and not rollout_result.complete:
        yield from _exchange_rows(fit, rollout_result)
    for over in fit.overused:
        text = f"quota {over.quota} has used {over.over_by} of {over.resource} more than its hard {over.hard}"
        yield "over hard", True, f"{text}: until that is freed nothing more is admitted"
    if fit.never_fits:
        yield "no room helps", True, headline.cause(fit.verdict.findings)


def _format_rollout(fit: Fit, replicas: Replicas) -> str:
    surge, fewer = replicas.surge, replicas.unavailable
    match fit.next_rollout:
        case "fits" if waits_or_fails(fit.run_state):
            return f"quotas have room for its surge of {surge}; whether it ends depends on what its pods wait for"
        case "fits":
            return f"fits with its surge of {surge}"
        case "slow":
            return f"completes with {fit.surge_fits} of the {surge} surge pods at a time"
        case "shrinking":
            return f"completes without a surge pod: old pods end first, up to {fewer} at a time"
        case "replaced" if replicas.strategy == "Recreate":
            return "needs no surge: all old pods end first"
        case "replaced":
            return f"needs no surge: old pods end first, {fewer} at a time"
    return f"would stall{_end_words(fit.next_rollout_end)}" if fit.next_rollout_end is not None else "would stall"


def _end_words(rollout_result: RolloutResult) -> str:
    left = (
        f", {rollout_result.old} old pod{'s' * (rollout_result.old != 1)} left"
        if rollout_result.old
        else ", no old pod left"
    )
    return f" at {rollout_result.updated} of {rollout_result.wanted} updated{left}, until there is room"


def _exchange_rows(fit: Fit, rollout_result: RolloutResult) -> Iterator[tuple[str, bool, str]]:
    """Yield what an old pod gives back against what a new one takes, where quotas refuse it."""
    for cost in fit.quotas:
        names = [name for name in cost.exceeded if not fit.never_fits]
        back = rollout_result.gives_back.get(cost.quota, {})
        for name in names:
            takes = f"a new one takes {cost.charge.requested[name]} of quota {cost.quota}"
            yield "exchange", True, f"an old pod gives back {back.get(name, '0')} of {name}, {takes}"


def denied_lines(
    denied: Denied, *, now: str = "", color: bool = False, width: int = 80, explain: str = ""
) -> Iterator[str]:
    """Yield a refused workload: what is missing, why, and what would free it. ``now`` (RFC 3339): times are ages.
    ``explain``: the command that looks for fixes, where none were looked for.
    """
    yield draw(_head(denied), color=color)
    remedies = [("or" if index else "fix", sentence_text(remedy.text)) for index, remedy in enumerate(denied.fixes)]
    ways_out = [*remedies, *([("next", explain)] if explain else ())]
    for line in _labelled_lines([*_refusal_texts(denied), *ways_out, *_goes_on(denied, now)], width):
        yield draw(line, color=color)


def refusal_detail(denied: Denied, width: int) -> Iterator[Line]:
    """Yield the same beside a list: what to do with its commands first."""
    yield _head(denied)
    yield from first_fix_lines(denied.fixes, width)
    yield from _labelled_lines([*_refusal_texts(denied), *_goes_on(denied, "")], width)


def _head(denied: Denied) -> Line:
    word, tone, missing = _refusal_headline(denied)
    return [(tone, f"{pad_text(word, 7)}  "), ("strong", denied.subject.full_name), ("", f"  {missing}")]


def _refusal_texts(denied: Denied) -> Iterator[tuple[str, str]]:
    if denied.verdict.message:
        message = headline.one_line_message(denied.verdict)
        yield "server", headline.server_text(message, denied.facts, shown=message.partition(" is forbidden: ")[2])
    elif denied.verdict.blocked is not None:
        yield "server", denied.verdict.blocked.message


def _goes_on(denied: Denied, now: str) -> Iterator[tuple[str, str]]:
    """Yield what systems say of it, and the last try."""
    for system in systems():
        yield from system.refusal_texts(denied, now)
    for fact in denied.facts[:1]:
        times = f" {fact.count}x" if fact.count > 1 else ""
        ago = age_text(fact.time, now)
        last = f", last {f'{ago} ago' if ago else fact.time}" if fact.time else ""
        yield "seen", f"{fact.reason}{times} of {fact.source.ref}{last}"
    if not denied.facts:
        fits = denied.verdict.fits
        what = f"{fits} of them fit{'s' * (fits == 1)}, the others would" if fits else "the next one would"
        yield "seen", f"no failure recorded yet; {what} be refused"


def _labelled_lines(texts: Iterable[tuple[str, str]], width: int) -> Iterator[Line]:
    for label, text in texts:
        yield from tone_lines("", wrap_text(text, width, first=f"  {pad_text(label, LABEL)}", rest=" " * (LABEL + 2)))


def _refusal_headline(denied: Denied) -> tuple[str, Tone, str]:
    """Word and tone, and how many pods are missing."""
    have = denied.replicas
    word, tone = headline.verdict_word(denied.verdict)
    if word in {"admitted", "full"}:
        # Refused before, and not any more: the controller tries again by itself.
        word, tone = "waiting", "warn"
    if have is None:
        missing = "its pod missing" if denied.subject.kind in kinds_of("waits") else f"{pods_of_jobs(denied)} missing"
    elif have.missing_pods:
        missing = f"{have.missing_pods} of {have.wanted} pod{'s' * (have.wanted != 1)} missing"
    else:
        missing = f"{have.wanted} pod{'s' * (have.wanted != 1)}, no new ones"
    return (
        word,
        tone,
        f"{missing}{'' if denied.facts else headline.unread_caveat(denied.verdict.message, denied.unread)}",
    )


def pods_of_jobs(denied: Denied) -> str:
    """Return how many pods a CronJob lacks, of its next Job or of all that it comes to keep."""
    missing = denied.verdict.missing
    return f"{missing} pod{'s' * (missing != 1)} of its Jobs"


def denied_count(refused: int, asked: int) -> str:
    """Return the last line over all workloads that were looked at."""
    if not asked:
        return "no workloads"
    if not refused:
        return "no workload is refused" if asked == 1 else f"none of {asked} workloads is refused"
    return f"{refused} of {asked} workload{'s' * (asked != 1)} {'is' if refused == 1 else 'are'} refused"


def mended_count(mended: int) -> str:
    """Return the line under that where fixes were looked for only at the beginning."""
    return f"with fixes for the first {mended}; --all looks for all"
