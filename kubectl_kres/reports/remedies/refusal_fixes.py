"""What mends one refusal of a pod, as values: what to set, to how much, and what has set it until now.

Amounts are quantities as the server writes them, ``holder`` is whose value it is: ``container web``, ``the pod level``.
"""

from __future__ import annotations

from typing import Literal

from kubectl_kres.record import Record, Sentence, Wording

#: How the amount that is to be set bounds what may be set: ``""`` for the amount itself.
Bound = Literal["", "at least", "at most"]


#: Whose a sum is.
ALL_CONTAINERS = "the containers, in sum,"


class Filling(Sentence, frozen=True):
    """A LimitRange that fills an amount in, since nobody wrote one."""

    by: str
    amount: str


class ShareOfLimit(Sentence, frozen=True):
    """An amount that is the limit by a ratio."""

    limit: str
    ratio: str


class SetAmount(Sentence, frozen=True):
    """Set a value. ``sides``: requests, limits or both.

    ``max_of``: the LimitRange whose max the amount is. ``filled``: what fills in the present one (Filling).
    ``equal_to``: the side that it has to equal. ``sum``: it is what the containers add up to.
    """

    sides: tuple[str, ...]
    resource: str
    holder: str
    bound: Bound
    amount: str
    max_of: str = ""
    filled: Wording = ""
    equal_to: str = ""
    sum: bool = False


class LowerOrRaise(Sentence, frozen=True):
    """Lower a request to its limit, or raise the limit to it."""

    resource: str
    holder: str
    limit: str
    request: str


class WriteBothSides(Sentence, frozen=True):
    """Write a request and a limit, which two LimitRanges fill in and which do not fit each other."""

    resource: str
    holder: str
    request_by: str
    limit_by: str


class UseWholeNumber(Sentence, frozen=True):
    """``amount``: the next one; empty: not known."""

    path: str
    amount: str = ""


class LowerContainerLimit(Sentence, frozen=True):
    """Lower a container's limit to that of the pod level, or raise the latter to ``raised``.

    ``pod_max``, ``max_of``: the max of a LimitRange for a pod that is below; empty: none is.
    """

    resource: str
    container: str
    limit: str
    raised: str
    filled: Wording = ""
    pod_max: str = ""
    max_of: str = ""


class MakeRoom(Sentence, frozen=True):
    """Raise a quota, or free room in it. ``to`` empty: by how much is not known.

    ``freed``: what would be enough to free; empty: nothing that is freed would. ``missing``: so many pods are missing,
    for all of which ``for_all`` is enough. ``left``: ask for no more than that; empty: nothing is left.
    """

    resource: str
    quota: str
    to: str = ""
    freed: str = ""
    missing: int = 0
    for_all: str = ""
    left: str = ""


class GrowLess(Sentence, frozen=True):
    """Make room in a quota for what grows, or grow by no more than ``left``; empty: not at all.

    ``freed`` empty: how much it lacks is not known. ``resize``: it is a pod that grows; else a claim.
    """

    resource: str
    quota: str
    to: str = ""
    freed: str = ""
    left: str = ""
    resize: bool = False


class AskWithin(Sentence, frozen=True):
    """Ask for a size within a bound of a LimitRange."""

    resource: str
    bound: Bound
    amount: str


class KeepClass(Sentence, frozen=True):
    """A resize keeps the QoS class. ``qos_class`` empty: not known. ``pod_level``: that is where the values stand."""

    qos_class: str = ""
    pod_level: bool = False


class WithinNode(Sentence, frozen=True):
    """A resize within what the node of the pod has. ``node`` empty: not known, as in ``WithinFeatures``."""

    node: str
    resource: str
    amount: str


class WithinFeatures(Sentence, frozen=True):
    """The node does not declare what resizes of other containers than plain ones and sidecars need."""

    node: str
    features: str


class NameStoredContainers(Sentence, frozen=True):
    """The containers that the stored pod has."""

    names: str


class StateAmount(Sentence, frozen=True):
    """State a value in containers, or have a LimitRange fill it in."""

    side: str
    resource: str
    containers: tuple[str, ...]


class WriteQuantity(Sentence, frozen=True):
    """``better``: the quantity that was probably meant by ``text``; empty: nobody knows."""

    field: str
    text: str
    better: str = ""


class MoveField(Sentence, frozen=True):
    """A field that the kind does not have. ``better``: where it belongs; empty: nowhere."""

    path: str
    better: str = ""


class NameContainers(Sentence, frozen=True):
    """``path``: a name that is missing or taken; else the list, which is empty."""

    path: str


class NameResource(Sentence, frozen=True):
    """``better``: the resource that was probably meant by ``name``; empty: nobody knows."""

    path: str
    name: str
    better: str = ""


class BoundClaim(Sentence, frozen=True):
    """The size of a claim template, which no update changes. ``side``: the bound of ``source`` that it breaks."""

    resource: str
    template: str
    side: Literal["min", "max"]
    amount: str
    source: str


class MakeNamespace(Sentence, frozen=True):
    """``going``: it is being deleted; ``held``: what holds it, in the server's words. ``flags``: as in ``ByHand``."""

    name: str
    going: bool = False
    held: str = ""
    flags: str = ""


class WriteType(Sentence, frozen=True):
    """``expected`` and ``got``: types of JSON."""

    path: str
    expected: str
    got: str


class CorrectDefaults(Sentence, frozen=True):
    """A LimitRange whose default of a resource breaks its own bound, ``broken``."""

    limit_range: str
    resource: str
    broken: str


class ByHand(Sentence, frozen=True):
    """What the catalogue says of a rule for which no edit is computed.

    ``set_in``: where the setting that it names stands, if elsewhere than usual. ``flags``: those of kubectl that choose
    the server.
    """

    rule: str
    path: str = ""
    container: str = ""
    resource: str = ""
    set_in: str = ""
    flags: str = ""


class OtherRefusal(Sentence, frozen=True):
    """A rule that nothing is known of. ``path`` empty: it is about the pod as a whole."""

    rule: str
    path: str = ""


class MergeLimitRanges(Sentence, frozen=True):
    """Of several LimitRanges the order decides."""

    names: tuple[str, ...]


class BoundAmount(Record, frozen=True):
    """An amount that something asks for at least or at most. ``by``: the LimitRanges that have it."""

    bound: Bound
    amount: str
    by: tuple[str, ...] = ()


class ApartBounds(Sentence, frozen=True):
    """LimitRanges that nothing satisfies. ``summed``: those of the containers, in sum, and that of the pod."""

    resource: str
    first: BoundAmount
    second: BoundAmount
    summed: bool = False


class SideChange(Record, frozen=True):
    """One side, and what it is set to."""

    side: str
    bound: Bound
    amount: str


class SetWithin(Sentence, frozen=True):
    """Bring a request and a limit within all LimitRanges at once.

    ``reasons``: what fills in the present values, and by which ratio a request is a share of its limit.
    """

    resource: str
    holder: str
    changes: tuple[SideChange, ...]
    reasons: tuple[Wording, ...] = ()


class KeepRatio(Sentence, frozen=True):
    """Set both sides no further apart than a ratio."""

    resource: str
    holder: str
    ratio: str


class ChangeValues(Sentence, frozen=True):
    """Change both sides: what the server says is all that is known."""

    resource: str
    holder: str
    message: str
