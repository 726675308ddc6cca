"""The sentences of an explanation: what it says beside fixes, where its manifest is from, and who refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.reports.common.explanation import (
    HiddenQuota,
    Injection,
    LaterChange,
    LimitedResources,
    ManifestPlace,
    Note,
    Refuser,
    SuspectFigure,
    UnknownNumber,
)
from kubectl_kres.reports.common.replicas import IdleReason
from kubectl_kres.reports.explain.advice import InTwoSteps, NodeAdvice, UseLessMemory
from kubectl_kres.wording import join_words

#: What is said where nothing has to change.
NOTHING = "nothing to change"
_SEARCH = {
    "passes": "wait: a pod was created after the last refusal; the controller makes the others by itself",
    "unread": "The last attempt was refused (below). Whether the next one passes depends on what could not be read.",
    "ended": "the search for edits ended without a way in; what is said here was not tried",
}
_SINCE = "since the last refusal, so the next pod would be admitted; the controller tries again by itself"


def note_text(note: Note | None) -> str:
    """Return it in a sentence; empty for none."""
    if note is None:
        return ""
    refused = " and ".join(
        f"{suspect.suggestion} in {_place(suspect)} ({_figure(suspect)})"
        for suspect in note.suspects
        if suspect.refused
    )
    others = [
        f"look at {_place(suspect)}: {_figure(suspect)}; did you mean {suspect.suggestion}?"
        for suspect in note.suspects
        if not suspect.refused
    ]
    changed = f"wait: {join_words(list(map(_change, note.changed)))} {_SINCE}" if note.changed else ""
    parts = (
        changed,
        sentence_text(note.idle),
        sentence_text(note.next),
        f"did you mean {refused}?" if refused else "",
        *others,
        _SEARCH.get(note.search, ""),
    )
    more = "; ".join(filter(None, parts))
    if not note.nothing:
        return more
    admission = " for admission, but " if note.suspects else ": "
    return f"{NOTHING}{admission}{more}" if more else NOTHING


def idle_text(reason: IdleReason) -> str:
    """Return why a workload wants no pods."""
    match reason.kind:
        case "complete":
            return "the job is complete and makes no more pods"
        case "failed":
            return f"the job has failed{f' ({reason.reason})' if reason.reason else ''} and makes no more pods"
        case "suspended":
            return "the job is suspended and makes no pods until it goes on"
        case _:
            return "it wants no pods at present"


def _change(change: LaterChange) -> str:
    """Return what changed: ``limits.cpu of ResourceQuota/team went from 4 to 6``."""
    source = change.source
    name = str(source.ref) if source.name else source.kind
    field = source.field.partition("[")[2].rstrip("]") or source.field
    what = f"{field} of {name}" if field else name
    if change.how:
        return f"{what} was {change.how}"
    side = "use" if source.field.startswith("status.used") else ""
    if not change.after:
        return f"{what} is limited no more"
    return f"{f'{side} of ' if side else ''}{what} went from {change.before} to {change.after}"


def _place(suspect: SuspectFigure) -> str:
    return f"{' and '.join(suspect.fields)} of {suspect.container}"


def _figure(suspect: SuspectFigure) -> str:
    """Return what the figure really says."""
    count = suspect.count
    if suspect.unit == "CPU":
        return f"{count} is {count} CPUs"
    if suspect.unit == "millibyte":
        return f"{suspect.figure} is {count} thousandths of a byte"
    return f"{suspect.figure} is {count} byte{'s' * (count > 1)}"


def _place_text(place: ManifestPlace) -> str:
    """Return where a manifest is from: ``its template in web.yaml``, ``revision web-2 of StatefulSet/web``."""
    match place.place:
        case "file":
            return place.file or "the input"
        case "revision":
            return f"revision {place.revision} of {place.of}"
        case "applied":
            return "the last applied configuration"
        case "live":
            return "the live pod"
        case "template":
            template = f"the template of {place.of}" if place.of else "its template"
            return f"{template} in {place.file}" if place.file else template


def refuser_text(refuser: Refuser, *, open_ended: bool = False) -> str:
    """Return who refuses, to go on from: ``quota team, which is not counted yet,``. ``open_ended``: to end with."""
    who, aside = _refuser(refuser)
    return f"{who}, {aside}{'' if open_ended else ','}" if aside else who


def brief_refusers(refuser: Refuser) -> tuple[str, ...]:
    """Return who refuses, then the same in fewer and fewer words: without the aside, then without its name."""
    who, _ = _refuser(refuser)
    nameless = "the API server" if isinstance(refuser.cause, LimitedResources) else _NAMELESS.get(refuser.rule, "")
    kind = nameless or _NAMELESS.get(refuser.rule.partition("/")[0], "the API server")
    return refuser_text(refuser, open_ended=True), who, kind


_NAMELESS = {
    "quota": "a quota",
    "limitrange": "a LimitRange",
    "webhook": "a webhook",
    "pod-security": "Pod Security",
    "policy": "a policy",
    "service-account": "its ServiceAccount",
    "namespace": "its namespace",
    "seen/claim-refused": "the refusal of its claim",
}


def _refuser(refuser: Refuser) -> tuple[str, str]:
    """Return who refuses, and what is said of it in an aside."""
    name, cause = refuser.name, refuser.cause
    match cause:
        case HiddenQuota():
            if cause.cluster:
                return f"ClusterResourceQuota {name}", ""
            return f"quota {name}", f"which is no ResourceQuota of namespace {refuser.namespace}"
        case LimitedResources(resources=resources, scopes=scopes):
            what = f"that names {', '.join(resources)}" if resources else f"in scope {', '.join(scopes)}"
            return "the API server", f"which takes such pods only under a quota {what}"
        case Injection():
            return _refuser_name(refuser), _injection_text(cause)
    match refuser.rule:
        case "quota/status-unknown":
            return f"quota {name}", "which is not counted yet"
        case "service-account/missing":
            return f"ServiceAccount {name}, which does not exist", ""
    return _refuser_name(refuser), ""


def _refuser_name(refuser: Refuser) -> str:
    name = refuser.name
    match refuser.rule.partition("/"):
        case "quota", _, _:
            return f"quota {name}"
        case "limitrange", _, _:
            return "a LimitRange"
        case "webhook", _, way:
            return f"webhook {name} (it cannot be called)" if way == "unreachable" else f"webhook {name}"
        case "pod-security", _, _:
            return f'Pod Security "{name}"'
        case "policy", _, _:
            return f"{refuser.kind} {name}"
        case "namespace", _, _:
            return name
        case _, _, "claim-refused":
            return "the refusal of its PersistentVolumeClaim"
    return "the API server"


def _injection_text(cause: Injection) -> str:
    """Return what the refused pod has that the template has not; empty where nothing is known."""
    if cause.containers:
        containers = f"container{'s' * (len(cause.containers) > 1)} {join_words(cause.containers)}"
        return f"because of {containers}, which the template does not have"
    asked = [f"{name} {amount}" for name, amount in cause.requested.items()]
    computed = [amount for name, amount in cause.computed.items() if name in cause.requested]
    if not asked:
        return ""
    asked_for = f"asked for {join_words(asked)}"
    return (
        f"{asked_for} where the template asks for {join_words(computed)}"
        if computed
        else f"{asked_for}, which the template does not"
    )


def _node_change(change: NodeAdvice) -> str:
    if not change.seen:
        return "which change lets a node take it is known once the nodes were read"
    none = "no single change lets a node take it: see what each of them lacks"
    room = join_words(list(change.room))
    return f"{none}; a node that is added for it needs {room} free" if room else none


_IN_TWO_STEPS = (
    "raise the quota, or apply the new template first, and the new number of replicas once its rollout is complete"
)
WORDS: Mapping[type, Callable[[Any], str]] = {
    IdleReason: idle_text,
    ManifestPlace: _place_text,
    Refuser: refuser_text,
    InTwoSteps: lambda _: _IN_TWO_STEPS,
    NodeAdvice: _node_change,
    Note: note_text,
    UnknownNumber: lambda unknown: f"how many pods a {unknown.kind} of {unknown.version} makes is not known",
    UseLessMemory: lambda fix: f"raise the memory limit of container {fix.container}, or make the program use less",
}
