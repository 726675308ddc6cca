"""The sentences in which a server refuses an object, read back into values: the one table of them.

Events and conditions hold only the sentence.  What it says is a value here, so that a report can compare it with what
it sees; what is in no row is ``UnknownRefusal``, whose sentence is quoted and never explained away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from kubectl_kres.quantity import Quantity


class QuotaExceeded(Struct, frozen=True, tag=True):
    """A quota has too little left. Amounts by resource: of those that are exceeded; none where an event was cut off.

    Source: plugin/pkg/admission/resourcequota/controller.go CheckRequest; OpenShift's ClusterResourceQuota says it in
    the same words.
    """

    quota: str
    requested: Mapping[str, str]
    used: Mapping[str, str]
    limited: Mapping[str, str]


class MustSpecify(Struct, frozen=True, tag=True):
    """A quota demands values that containers do not state: their names by resource, none where an old server names
    none. Source: quota/v1/evaluator/core/pods.go Constraints.
    """

    quota: str
    lacking: Mapping[str, tuple[str, ...]]


class QuotaNotReady(Struct, frozen=True, tag=True):
    """The quota controller has not counted yet what a new quota limits."""

    quota: str
    resources: tuple[str, ...]


class NoQuotaNames(Struct, frozen=True, tag=True):
    """The server's configuration allows a resource only under a quota that names it (``limitedResources``)."""

    resources: tuple[str, ...]


class Scope(Struct, frozen=True):
    """A scope with what it has to be: PriorityClass In [gold]."""

    name: str
    operator: str = ""
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.operator} [{' '.join(self.values)}]" if self.operator else self.name


class NoQuotaInScope(Struct, frozen=True, tag=True):
    """The server's configuration allows such pods only under a quota with the scope (``limitedResources``)."""

    scopes: tuple[Scope, ...]


BoundName = Literal["minimum", "maximum", "ratio"]


class Bound(Struct, frozen=True):
    """A value beyond a LimitRange. ``type``: Container, Pod or PersistentVolumeClaim. ``stated`` empty: none is."""

    type: str
    bound: BoundName
    resource: str
    amount: str
    stated: str = ""


class OutOfBounds(Struct, frozen=True, tag=True):
    """LimitRanges refuse, each bound in its own words.

    Source: plugin/pkg/admission/limitranger/admission.go minConstraint, maxConstraint, limitRequestRatioConstraint.
    """

    bounds: tuple[Bound, ...]


class InvalidObject(Struct, frozen=True, tag=True):
    """Validation refused the object; ``faults`` in the server's words."""

    faults: str


class MissingClass(Struct, frozen=True, tag=True):
    """A PriorityClass or RuntimeClass that is not there."""

    kind: str
    name: str


class WebhookDenied(Struct, frozen=True, tag=True):
    """An admission webhook said no."""

    webhook: str


class WebhookUnreachable(Struct, frozen=True, tag=True):
    """An admission webhook did not answer, and its failurePolicy is Fail."""

    webhook: str


class PodSecurityViolated(Struct, frozen=True, tag=True):
    """A level of Pod Security is violated: restricted, latest. ``containers``: those that the sentence names."""

    level: str
    version: str
    containers: tuple[str, ...] = ()


class PolicyDenied(Struct, frozen=True, tag=True):
    """A ValidatingAdmissionPolicy or MutatingAdmissionPolicy refused."""

    kind: str
    name: str
    binding: str = ""


class MissingAccount(Struct, frozen=True, tag=True):
    """The ServiceAccount of the pod is not there."""

    name: str


class NamespaceEnds(Struct, frozen=True, tag=True):
    """The namespace is being terminated."""

    text: str


class ClaimRefused(Struct, frozen=True, tag=True):
    """The PersistentVolumeClaim of a StatefulSet's pod was refused; ``inner``: what refused it, ``text`` its words."""

    text: str
    inner: PodRefusal


class UnknownRefusal(Struct, frozen=True, tag=True):
    """A sentence that is in no row of this table."""

    text: str


PodRefusal = (
    QuotaExceeded
    | MustSpecify
    | QuotaNotReady
    | NoQuotaNames
    | NoQuotaInScope
    | OutOfBounds
    | InvalidObject
    | MissingClass
    | WebhookDenied
    | WebhookUnreachable
    | PodSecurityViolated
    | PolicyDenied
    | MissingAccount
    | NamespaceEnds
    | ClaimRefused
    | UnknownRefusal
)


def read_refusal(text: str) -> PodRefusal:
    """Return what a sentence says, whatever its controller put before it; ``UnknownRefusal`` for one of no row."""
    claim = re.search(_CLAIM, text) if "persistentvolumeclaims" in text else None
    if claim is not None:
        return ClaimRefused(claim[1], read_refusal(claim[1]))
    for words, pattern, read in _ROWS:
        match = re.search(pattern, text) if words in text else None
        if match is not None:
            return read(match)
    bounds = tuple(map(_read_bound, re.finditer(_BOUND, text))) if " per " in text else ()
    if bounds:
        return OutOfBounds(bounds)
    # Last, since other plugins quote what they refuse.
    invalid = re.search(_INVALID, text) if "is invalid" in text else None
    return InvalidObject(invalid[1]) if invalid is not None else UnknownRefusal(text)


_CLAIM = r'(?s)persistentvolumeclaims "[^"]*" is (?:forbidden|invalid): (.*)'
_INVALID = r'(?s)(?:pods?|Pod|jobs\.batch|Job)(?:\.batch)? "[^"]*" is invalid: (.*)'
_EXCEEDED = r"exceeded quota: ([^\s,]+)(?:, requested: (\S+), used: (\S+), limited: (\S+))?"
_BOUND = (
    r"(?P<bound>minimum|maximum) (?P<resource>\S+) usage per (?P<type>\S+) is (?P<amount>[^\s,\]]+?)(?=[\s,\].]|$)"
    r"(?:, but (?:request|limit) is (?P<stated>[^\s,.\]]+(?:\.\d+)?))?"
    r"|(?P<ratio_resource>\S+) max limit to request ratio per (?P<ratio_type>\S+) is (?P<ratio>[^\s,\]]+)"
    r"(?:, but provided ratio is (?P<provided>[\d.]+))?"
)


def _read_amounts(text: str) -> dict[str, str]:
    """``limits.cpu=3,pods=1`` by name. A name may hold no comma, and no equals sign."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


def read_exceeded_quota(text: str) -> QuotaExceeded | None:
    """Return the quota that a sentence says is exceeded; None: it says no such thing.

    For an event about a claim, whose quota counts even where a webhook quotes the sentence.
    """
    match = re.search(_EXCEEDED, text)
    return None if match is None else _read_exceeded(match)


def _read_exceeded(match: re.Match[str]) -> QuotaExceeded:
    return QuotaExceeded(match[1], *(_read_amounts(match[group] or "") for group in (2, 3, 4)))


def _read_must_specify(match: re.Match[str]) -> MustSpecify:
    lacking: dict[str, tuple[str, ...]] = {}
    for part in match[2].strip().rstrip(".").split(";"):
        resource, _, containers = part.strip().partition(" for: ")
        names = tuple(name for name in containers.split(",") if name)
        lacking |= dict.fromkeys([resource] if names else filter(None, resource.split(",")), names)
    return MustSpecify(match[1], lacking)


def _read_scopes(match: re.Match[str]) -> NoQuotaInScope:
    scopes = re.findall(_SCOPE, match[1])
    return NoQuotaInScope(tuple(Scope(name, operator, tuple(values.split())) for name, operator, values in scopes))


def _read_bound(match: re.Match[str]) -> Bound:
    if match["ratio"]:
        return Bound(match["ratio_type"], "ratio", match["ratio_resource"], match["ratio"], match["provided"] or "")
    bound: BoundName = "minimum" if match["bound"] == "minimum" else "maximum"
    return Bound(match["type"], bound, match["resource"], match["amount"], match["stated"] or "")


def _read_violation(match: re.Match[str]) -> PodSecurityViolated:
    names = [name for quoted in re.findall(_CONTAINERS, match[3]) for name in re.findall(_QUOTED, quoted)]
    return PodSecurityViolated(match[1], match[2], tuple(dict.fromkeys(names)))


_SCOPE = r"\{(\S+) (\S*) \[([^\]]*)\]\}"
_CONTAINERS = r'containers? ((?:"[^"]*"(?:, )?)+)'
_QUOTED = r'"([^"]*)"'

#: The words of each sentence, the pattern that takes it apart, and what it says. The order matters: a webhook may quote
#: the words of others. A pattern is text, which is compiled when its words were first found: few answers need any.
_ROWS: tuple[tuple[str, str, Callable[[re.Match[str]], PodRefusal]], ...] = (
    ("admission webhook", r'admission webhook "([^"]*)" denied', lambda match: WebhookDenied(match[1])),
    ("calling webhook", r'failed calling webhook "([^"]*)"', lambda match: WebhookUnreachable(match[1])),
    ("exceeded quota", _EXCEEDED, _read_exceeded),
    ("must specify", r"(?s)failed quota: ([^\s:]+): must specify (.*)", _read_must_specify),
    (
        "unknown for quota",
        r"status unknown for quota: ([^\s,]+), resources: (\S+)",
        lambda match: QuotaNotReady(match[1], tuple(match[2].split(","))),
    ),
    (
        "quota to consume",
        r"insufficient quota to consume: (\S+)",
        lambda match: NoQuotaNames(tuple(match[1].split(","))),
    ),
    ("these scopes", r"(?s)insufficient quota to match these scopes: \[(.*)\]", _read_scopes),
    ("PodSecurity", r'(?s)violates PodSecurity "([^":]*):?([^"]*)"(.*)', _read_violation),
    (
        "AdmissionPolicy",
        r"(ValidatingAdmissionPolicy|MutatingAdmissionPolicy) '([^']*)'(?: with binding '([^']*)')?",
        lambda match: PolicyDenied(match[1], match[2], match[3] or ""),
    ),
    ("account", r'service ?account "([^"]*)" not found', lambda match: MissingAccount(match[1])),
    (
        "service account",
        r"error looking up service account [^\s/]+/(\S+?):",
        lambda match: MissingAccount(match[1]),
    ),
    ("being terminated", r"(namespace \S+ because it is being terminated)", lambda match: NamespaceEnds(match[1])),
    (
        "PriorityClass",
        r"no PriorityClass with name (\S+) was found",
        lambda match: MissingClass("PriorityClass", match[1]),
    ),
    ("RuntimeClass", r'RuntimeClass "([^"]*)" not found', lambda match: MissingClass("RuntimeClass", match[1])),
)


class NodeRoom(Struct, frozen=True):
    """The room of a node that a resize did not find: of cpu in thousandths, else in units.

    Source: kubelet lifecycle/predicate.go InsufficientResourceError.
    """

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def left(self) -> str:
        """The largest amount that there is room for, as a quantity is written."""
        free = max(0, self.capacity - self.used)
        cpu = self.resource == "cpu"
        return str(Quantity(free * (10**6 if cpu else 10**9), "DecimalSI" if cpu else "BinarySI"))


def read_node_room(text: str) -> NodeRoom | None:
    """Return what the kubelet says of a resize for which its node has too little; None: it says something else."""
    match = re.search(_NODE_ROOM, text)
    return NodeRoom(match[1], *(int(match[group]) for group in (2, 3, 4))) if match is not None else None


_NODE_ROOM = r"enough resource: ([^\s,]+), requested: (\d+), used: (\d+), capacity: (\d+)"
