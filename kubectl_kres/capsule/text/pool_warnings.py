"""The words of what is wrong with a pool and its namespaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.capsule.reports.common.amount_lists import sentence
from kubectl_kres.capsule.reports.common.pool_index import STAYS
from kubectl_kres.capsule.reports.pool import pool_warnings as warning
from kubectl_kres.wording import join_some


def _unwritable_claims(said: warning.UnwritableClaims) -> str:
    return (
        f"its status cannot be written any more because of claims with a dot in their name, or more than "
        f"63 characters ({join_some(said.claims)}): quotas are still raised, and what is claimed here is too low; "
        "delete them"
    )


def _lowered(said: warning.LoweredAmounts) -> str:
    return (
        f"Capsule cannot count with amounts as large as its {sentence(said.hard)}: with each look it "
        "takes what is claimed off spec.quota.hard itself, and gives out less than there is; written without a "
        f"suffix ({sentence(said.whole)}) it is counted right"
    )


def _truncated(said: warning.TruncatedAmounts) -> str:
    verb = "is" if len(said.resources) == 1 else "are"
    return (
        f"its {join_some(said.resources)} {verb} near the most that the API server keeps (2^63-1): it cuts sums off "
        "there, so what they come to here is not certain"
    )


def _wrong_sums(said: warning.WrongSums) -> str:
    return (
        f"its status says that claims hold {sentence(said.status)}, but the claims that it lists hold "
        f"{sentence(said.listed)}; the figures here are theirs"
    )


def _moved(said: warning.MovedClaims) -> str:
    return (
        f"its status lists claims that are in another pool now ({join_some(said.claims)}): when it looks at them next, "
        "as after any change of it, they lose what they hold there, too"
    )


def _overused_namespace(said: warning.OverusedNamespace) -> str:
    stays = STAYS.format(join_some(sorted(said.amounts)))
    return f"namespace {said.namespace} uses {sentence(said.amounts)}, more than its quota allows now: {stays}"


def _overlapping(said: warning.OverlappingPool) -> str:
    scopes = f"{' and '.join(said.scopes)} count against both quotas and must fit in both"
    what = scopes if said.scopes else "a pod must fit in each quota that counts it"
    resources, namespaces = join_some(said.resources), join_some(said.namespaces)
    return f"pool {said.pool} also limits {resources} in {namespaces}: {what}"


def _unlimited(said: warning.Unlimited) -> str:
    them = "it" if len(said.resources) == 1 else "them"
    return (
        f"the pool does not limit {join_some(said.resources)} in {join_some(said.namespaces)}: no claim for {them} is "
        "allocated there, and it has no default (defaultsZero would set 0)"
    )


_NOTES = {
    "not-listed": "selected, but the status does not list it yet: claims in it are not taken",
    "absent": "in the status, but there is no such namespace any more",
    "deleted": "is being deleted; the pool keeps it until something wakes its controller",
    "not-selected": "in the status, but no selector matches it now",
    "no-quota": "there is no quota of the pool there",
    "quota-unknown": "its quota there is not known",
}

WORDS: Mapping[type, Callable[[Any], str]] = {
    warning.BeingDeleted: lambda said: (
        f"it is being deleted, since {said.since}: it serves no namespace, and its waiting claims are deleted with it"
    ),
    warning.ReconcileFailed: lambda said: (
        f"its last reconcile failed, and nothing tries again by itself: {said.message}"
    ),
    warning.NoStatus: lambda _: "it has no status yet: Capsule's controller has not seen it, or is not running",
    warning.UnwritableName: lambda _: (
        "its name has a dot, or more than 63 characters, which no status of a claim can hold: no claim ever gets "
        "anything of it; create it under another name"
    ),
    warning.UnwritableClaims: _unwritable_claims,
    warning.LoweredAmounts: _lowered,
    warning.TruncatedAmounts: _truncated,
    warning.OldGeneration: lambda said: f"its status is of generation {said.status}, its spec of {said.spec}",
    warning.OldHard: lambda said: (
        f"its status still counts with hard {sentence(said.status)}, its spec says {sentence(said.spec)}"
    ),
    warning.WrongSums: _wrong_sums,
    warning.AbsentClaims: lambda said: f"its status lists claims that do not exist: {join_some(said.claims)}",
    warning.MovedClaims: _moved,
    warning.Overdrawn: lambda said: (
        f"claims hold {sentence(said.amounts)} more than it has; nobody is put out, and nobody new gets in"
    ),
    warning.NotShared: lambda said: f"claims hold {sentence(said.amounts)}, which it does not share out any more",
    warning.Overused: lambda said: (
        f"{sentence(said.amounts)} in use is more than it has: claims were released, or defaults add to what they hold"
    ),
    warning.OverusedNamespace: _overused_namespace,
    warning.NoSelectors: lambda _: "it has no selectors, and so no namespaces: nothing selects nothing, not everything",
    warning.EmptySelector: lambda said: (
        f"{said.path} is empty and selects nothing; elsewhere in Kubernetes that selects everything"
    ),
    warning.FaultySelector: lambda said: f"{said.path} does not parse and is skipped without a word: {said.fault}",
    warning.UselessSelector: lambda said: f"{said.path} matches no namespace",
    warning.OverlappingPool: _overlapping,
    warning.NothingToClaim: lambda said: (
        f"nobody can ever claim {join_some(said.resources)}: hard is 0, and even a claim for 0 of it waits forever"
    ),
    warning.Unlimited: _unlimited,
    warning.NamespaceNote: lambda said: _NOTES[said.kind],
}
