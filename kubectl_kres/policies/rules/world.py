"""What plugins look up around a request, and what they can answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.versions import NEWEST, Version
from kubectl_kres.policies.cel.base.state import PER_CALL
from kubectl_kres.policies.rules import service_account
from kubectl_kres.policies.rules.policy import Bound, FindParams, bound
from kubectl_kres.policies.rules.request import User

if TYPE_CHECKING:
    from kubectl_kres.policies.rules.mutating import Mutation

Raw = Mapping[str, Any]


def _no_params(_version: str, _kind: str, _namespace: str, _reference: Raw | None) -> None:
    return None


class PolicyObjects(Struct, frozen=True):
    """What plugins look up beside LimitRanges, quotas and classes.

    namespace None: there is none. accounts None: not read, the plugin refuses nothing. user None: not known.
    most: cost of one expression after which it is not computed. added: names of a pod's containers whose security
    fields were not read, and which others like it were admitted with.
    """

    namespace: Raw | None = None
    accounts: service_account.Accounts | None = None
    validating: tuple[Bound, ...] = ()
    mutating: tuple[Bound, ...] = ()
    params: FindParams = _no_params
    user: User | None = None
    pods: tuple[Raw, ...] = ()
    most: int = PER_CALL
    added: frozenset[str] = frozenset()


class PolicyAnswer(Struct, frozen=True):
    """One possible answer. ``whole``: the object as stored; ``steps``: what mutating policies did.

    no_answer: the server closes the connection. unknown: what was not computed, so that the answer may be another one.
    """

    outcome: Outcome
    whole: Raw | None = None
    audit: Mapping[str, str] = {}
    unknown: tuple[str, ...] = ()
    steps: tuple[Mutation, ...] = ()
    no_answer: bool = False


def world_of(
    namespace: Raw | None,
    accounts: service_account.Accounts | None = None,
    validating_policies: tuple[Sequence[Raw], Sequence[Raw]] = ((), ()),
    mutating_policies: tuple[Sequence[Raw], Sequence[Raw]] = ((), ()),
    *,
    params: FindParams = _no_params,
    user: User | None = None,
    pods: Sequence[Raw] = (),
    most: int = PER_CALL,
    version: Version = NEWEST,
) -> PolicyObjects:
    """From policies and their bindings as read."""
    return PolicyObjects(
        namespace, accounts, bound(*validating_policies, version), bound(*mutating_policies, version), params, user,
        tuple(pods), most,
    )  # fmt: skip
