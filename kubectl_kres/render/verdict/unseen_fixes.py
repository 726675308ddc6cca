"""What to do about a refusal by something that is not seen here, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.render.verdict.note import refuser_text
from kubectl_kres.reports.common.explanation import Refuser
from kubectl_kres.reports.remedies.unseen_refusal import (
    AskWebhook,
    AwaitCount,
    BoundInjected,
    CorrectClaim,
    CorrectInjected,
    FreeElsewhere,
    Injected,
    InjectLess,
    LookInto,
    MendWebhook,
    RaiseElsewhere,
    SecureInjected,
    StateInjected,
)
from kubectl_kres.wording import join_words

#: So many namespaces are named.
_MOST = 3


def _mend_webhook(fix: MendWebhook) -> str:
    behind = f"Service {fix.service} of namespace {fix.namespace}, and the pods behind it"
    return f"make webhook {fix.webhook} answer again: {behind if fix.service else 'its Service and pods'}"


def _await_count(fix: AwaitCount) -> str:
    lasts = "if that lasts, see whether the controller manager counts quotas"
    return f"wait until quota {fix.quota} is counted: its status is empty; {lasts}"


def _look_into(fix: LookInto) -> str:
    what = refuser_text(fix.what, open_ended=True) if isinstance(fix.what, Refuser) else fix.what
    return f"look into what refuses its pods{', neither a quota nor a LimitRange' * fix.no_policy}: {what}"


def _free_elsewhere(fix: FreeElsewhere) -> str:
    users = [
        f"{namespace} ({', '.join(f'{name} {amount}' for name, amount in used.items())})"
        for namespace, used in list(fix.users.items())[:_MOST]
    ]
    return f"free some in {join_words(users)}"


def _raise_elsewhere(fix: RaiseElsewhere) -> str:
    quota = fix.quota
    where = (
        f"quota {quota.quota} is not in namespace {fix.namespace}: on OpenShift it is a ClusterResourceQuota, which "
        f"counts several projects (kubectl get clusterresourcequota {quota.quota} -o yaml)"
    )
    lacking = [
        f"{name} ({quota.used.get(name, '0')} of {amount} used, {quota.requested.get(name, '')} asked)"
        for name, amount in quota.limited.items()
    ]
    if not lacking:
        return f"{where}; state the values that it demands, or ask who keeps it"
    return (
        f"{where}; raise its {join_words(lacking)}, or free some of it where it is used; if it was deleted meanwhile, "
        "the next try passes"
    )


def _where(fix: Injected) -> str:
    names = join_words([f"MutatingWebhookConfiguration {name}" for name in fix.webhooks])
    added = "they are" if len(fix.containers) > 1 else "it is"
    return f"where {added} added, by {names} as far as seen" if names else f"where {added} added, mostly by a webhook"


def _containers(fix: Injected) -> str:
    return f"container{'s' * (len(fix.containers) > 1)} {join_words(list(fix.containers))}"


def _state_injected(fix: StateInjected) -> str:
    filled = f"create a LimitRange whose defaults for containers fill {'it' if len(fix.values) == 1 else 'them'} in"
    return f"give {_containers(fix)} {join_words(list(fix.values))} {_where(fix)}, or {filled}"


def _secure_injected(fix: SecureInjected) -> str:
    level = (
        f"; {join_words(list(fix.fields))} may also be set on the pod level of the template, which holds for "
        "containers that do not set it themselves"
    )
    return f"set the securityContext of {_containers(fix)} {_where(fix)}{level if fix.fields else ''}"


WORDS: Mapping[type, Callable[[Any], str]] = {
    AskWebhook: lambda fix: f"do what webhook {fix.webhook} asks for, or ask who keeps it",
    AwaitCount: _await_count,
    BoundInjected: lambda fix: f"keep {fix.resource} within {fix.bound} {fix.amount} per {fix.type} {_where(fix)}",
    CorrectClaim: lambda fix: f"correct the PersistentVolumeClaim of its pod: {fix.message}",
    CorrectInjected: lambda fix: f"correct the pod {_where(fix)}",
    FreeElsewhere: _free_elsewhere,
    InjectLess: lambda fix: f"let the pod have less {join_words(list(fix.resources))} {_where(fix)}",
    LookInto: _look_into,
    MendWebhook: _mend_webhook,
    RaiseElsewhere: _raise_elsewhere,
    SecureInjected: _secure_injected,
    StateInjected: _state_injected,
}
