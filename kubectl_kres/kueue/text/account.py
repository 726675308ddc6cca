"""The account of an object in its queue as lines: where it stands, what it is charged, what flavors have left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_kres.kueue.reports.record import ChargedAmount, FlavorRow, QueueAccount
from kubectl_kres.kueue.text.causes import cause_text, place_text
from kubectl_kres.provenance.journal import Term
from kubectl_kres.render.text.line import Line, columns, labelled_lines, tone_lines, wrap_text
from kubectl_kres.reports.common.explanation import FailedRead
from kubectl_kres.reports.common.system_parts import Parts, part_of
from kubectl_kres.wording import join_words

_BEYOND = {
    "preemption": "whether Kueue preempts others for it is not computed",
    "fair sharing": "fair sharing is not computed",
    "topology": "topology is not computed",
    "flavors": "ResourceFlavors could not be read: taints and labels are left out",
}


#: Why a flavor is none for the pods, where a table has room for a word.
_WHY = {"uncovered": "no quota", "taint": "taint", "affinity": "affinity", "missing": "no flavor"}


def part_in(parts: Parts) -> QueueAccount | None:
    """Return the account in an explanation."""
    return part_of(parts, QueueAccount)


def account_lines(account: QueueAccount, width: int, *, refused: bool = False, later: str = "") -> Iterator[Line]:
    """Yield where it stands, Kueue's own words, and what it is charged.

    ``refused``: its pods are; ``later``: why they will be once it is admitted.
    """
    yield from labelled_lines("queue", _standing(account, refused=refused), width)
    if account.ahead:
        texts = [f"{each.of}{f' (priority {each.priority})' if each.priority else ''}" for each in account.ahead]
        more = account.place - 1 - len(account.ahead)
        rest = f" and {more} more" if more > 0 else ""
        yield from labelled_lines("before", f"{join_words(texts)}{rest}", width)
    if account.says and account.standing != "admitted" and account.cause not in {"no-priority-class", "quoted"}:
        reason = f"{account.reason}: " if account.reason else ""
        yield from labelled_lines("kueue", f"{reason}{account.says}", width, tone="quiet")
    for pod_set in account.charges:
        amounts = [f"{each.resource} {each.pod}{_or(each)}" for each in pod_set.amounts if each.pod != "0"]
        pods = f" for each of {pod_set.pods} pods" if pod_set.pods != 1 else ""
        asked = [f"{each.resource} {each.asked}" for each in pod_set.amounts if each.asked]
        other = f"; a pod will ask for {join_words(asked)}" if asked else ""
        name = f"{pod_set.name}: " if len(account.charges) > 1 else ""
        yield from labelled_lines("charged", f"{name}{', '.join(amounts) or 'nothing'}{pods}{other}", width)
        for each in pod_set.amounts:
            if each.asked:
                yield from labelled_lines("differs", difference_text(each), width, tone="warn")
    if later and account.standing == "waits" and not refused:
        text = f"once Kueue admits it, its pods are refused: {later}"
        yield from labelled_lines("then", text, width, tone="bad")
    for beyond in account.beyond:
        yield from labelled_lines("note", _BEYOND.get(beyond, beyond), width, tone="quiet")
    yield from unread_lines(account.unread, width)


def unread_lines(unread: Iterable[FailedRead], width: int) -> Iterator[Line]:
    """Yield what could not be read, and why."""
    for failed in unread:
        text = f"{failed.kind} could not be read: {failed.message or failed.state}"
        yield from labelled_lines("unread", text, width, tone="warn")


def _or(amount: ChargedAmount) -> str:
    return f" or {' or '.join(amount.alternatives)}" if amount.alternatives else ""


def _standing(account: QueueAccount, *, refused: bool) -> str:
    cluster = f" of ClusterQueue {account.cluster_queue}" if account.cluster_queue else ""
    strategy = f" ({account.strategy})" if account.strategy else ""
    place = place_text(account) or "no queue"
    flavors = f" in flavor {join_words(account.flavor_names)}" if account.flavor_names else ""
    match account.standing:
        case "admitted":
            then = ": the refusal above remains" if refused else ""
            return f"admitted by ClusterQueue {account.cluster_queue}{flavors}{then}"
        case "reserved":
            return f"ClusterQueue {account.cluster_queue} has reserved quota{flavors}; {cause_text(account)}"
        case "finished":
            return f"its Workload has finished in ClusterQueue {account.cluster_queue}" if cluster else "finished"
        case "new":
            names = join_words(list(dict.fromkeys(row.flavor for row in account.flavors if not row.why)))
            where = f"room in flavor {names}" if names else "nothing is charged"
            return f"{place.removeprefix('queue ')}{cluster}{strategy}: {where}"
        case _:
            waits = f"; it waits there, too: {cause_text(account)}" if refused and cause_text(account) else ""
            if account.cause == "unknown":
                waits = "; too little of the queue could be read to say when it is admitted"
            return f"{place.removeprefix('queue ')}{cluster}{strategy}{waits}"


def difference_text(amount: ChargedAmount) -> str:
    """Return which container counts as another amount for Kueue than in the pod, and by which rule."""
    rules = dict.fromkeys(_rule_text(entry.rule, str(entry.source.ref)) for entry in amount.sets if entry.source)
    texts = [f"{each.container} counts as {each.charged}, and gets {each.made}" for each in amount.differs]
    if len(texts) == 1 and rules and (amount.differs[0].charged, amount.differs[0].made) == (amount.pod, amount.asked):
        texts = [amount.differs[0].container]
    why = f": {'; '.join(rules)}" if rules else ""
    return f"{'; '.join(texts)}{why}. State requests.{amount.resource}, and both are equal"


def _rule_text(rule: str, source: str) -> str:
    if rule == "kueue/default-request":
        return f"Kueue takes the default request of {source} before limits become requests"
    if rule == "kueue/request-from-limit":
        return "Kueue takes the limit as the request"
    return rule


def detail_lines(account: QueueAccount, width: int) -> Iterator[Line]:
    """Yield how charges come about, and the table of flavors."""
    for pod_set in account.charges:
        yield [("", "")]
        title = f"charged by Kueue for {pod_set.pods} pod{'s' * (pod_set.pods != 1)} of {pod_set.name}"
        yield [("strong", title)]
        for each in pod_set.amounts:
            terms = " + ".join(_term(term) for term in each.derivation.terms if term.kept) if each.derivation else ""
            text = f"{each.resource} {each.total}: {each.pod} a pod{f' = {terms}' if terms else ''}"
            yield from tone_lines("", wrap_text(text, width, first="  ", rest="      "))
            for entry in each.sets:
                source = f", {entry.source}" if entry.source is not None and entry.source.kind else ""
                text = f"{entry.path.partition('.resources.')[0]}: {entry.after} by {entry.rule}{source}"
                yield from tone_lines("quiet", wrap_text(text, width, first="      ", rest="        "))
    if account.flavors:
        yield [("", "")]
        yield from flavor_lines(account.flavors)


def _term(term: Term) -> str:
    return f"{term.path.partition('.resources.')[0].removeprefix('spec.')} {term.value}"


def flavor_lines(rows: Sequence[FlavorRow]) -> Iterator[Line]:
    """Yield the table of flavors: what is asked, the nominal quota, in use, at most with what is borrowed, left."""
    asked = any(row.asked for row in rows)
    heads = ["FLAVOR", "RESOURCE", *(["ASKED"] if asked else []), "NOMINAL", "USED", "AT MOST", "FREE", "SHORT"]
    cells = [
        [
            row.flavor or "-", row.resource, *([row.asked or "-"] if asked else []), row.nominal or "-",
            row.used or "-", row.most or "-", row.left or "-", row.short or _WHY.get(row.why, "-"),
        ]
        for row in rows
    ]  # fmt: skip
    head, *lines = columns([heads, *cells])
    yield [("quiet", head.rstrip())]
    for row, line in zip(rows, lines, strict=True):
        yield [("bad" if row.why else "", line.rstrip())]
