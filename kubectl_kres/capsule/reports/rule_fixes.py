"""What mends a refusal by a Tenant, as values; ``text.rule_fixes`` words them.

``source``: the rule or list of the Tenant that refuses. ``command``: the line that changes the Tenant instead.
"""

from __future__ import annotations

from typing import Literal

from kubectl_kres.provenance.journal import Source
from kubectl_kres.record import Sentence
from kubectl_kres.reports.remedies.commands import CommandedFix


class DropAmount(Sentence, frozen=True):
    """A side that the rule has no containers state. ``by``: who sets it; ``from_limit``: the limit becomes it."""

    side: Literal["requests", "limits"]
    resource: str
    holder: str
    source: Source | None
    by: str = ""
    from_limit: bool = False


class StateRequest(Sentence, frozen=True):
    """A request without which the rule cannot be met."""

    resource: str
    holder: str
    source: Source | None


class MatchRequest(Sentence, frozen=True):
    """A side that has to equal the request."""

    side: Literal["requests", "limits"]
    resource: str
    holder: str
    request: str
    source: Source | None


class LimitWithinRatio(Sentence, frozen=True):
    """A limit within the ratio of the rule: at most ``limit``, or a request of at least ``request``.

    Empty: what the ratio is, or the limit, is not known.
    """

    resource: str
    holder: str
    source: Source | None
    limit: str = ""
    request: str = ""


class ReachClass(Sentence, frozen=True):
    """A QoS class that the rule asks for."""

    qos_class: str
    source: Source | None


class NameAllowed(CommandedFix, frozen=True):
    """One of the allowed names in a field. ``observed``: the one to allow instead; empty: a default of the Tenant."""

    names: tuple[str, ...]
    field: str
    observed: str


class TakeFromRegistry(CommandedFix, frozen=True):
    """The image of a container from another registry. ``images``: as it is called there.

    ``registry``: the one to allow instead; empty: the name has none, which is always refused.
    """

    holder: str
    images: tuple[str, ...]
    registry: str


class SetPullPolicy(CommandedFix, frozen=True):
    """One of the allowed policies, or the one that is refused allowed."""

    holder: str
    policies: tuple[str, ...]
    observed: str


class CreateDefaultClass(Sentence, frozen=True):
    """The class that the Tenant gives by default does not exist."""

    source: Source | None


class CorrectPattern(Sentence, frozen=True):
    """A pattern of the Tenant is none."""

    source: Source | None


class CreateNamedClass(Sentence, frozen=True):
    """A StorageClass that does not exist."""

    name: str
    field: str


class UseOwnVolume(CommandedFix, frozen=True):
    """A volume without the Tenant's label: it does not exist yet, is another Tenant's, or nobody's."""

    volume: str
    tenant: str
    state: Literal["missing", "other-tenant", "unlabelled"]


class DeleteOneOf(CommandedFix, frozen=True):
    """One of so many objects too many, or a larger number allowed."""

    count: str
    plural: str


class UseServiceType(CommandedFix, frozen=True):
    """Another type of Service."""

    observed: str


class LeaveOutMetadata(Sentence, frozen=True):
    """Labels or annotations that a Service may not have."""

    names: str
    field: str
    source: Source | None


class UseAddresses(CommandedFix, frozen=True):
    """Addresses of the allowed ranges; none: no address."""

    ranges: str
    field: str
    observed: str


class UseHost(CommandedFix, frozen=True):
    """One of the allowed hosts. ``observed``: the one to allow; empty: a rule has no host."""

    hosts: tuple[str, ...]
    observed: str


class WriteHosts(CommandedFix, frozen=True):
    """Hosts in place of a wildcard."""

    observed: str


class LeaveOutField(Sentence, frozen=True):
    """A field that this version of Capsule refuses."""

    field: str


class NameDeviceClass(Sentence, frozen=True):
    """A DeviceClass that exists, in place of one that does not."""

    names: tuple[str, ...]
    field: str
    observed: str


class AskForOneClass(Sentence, frozen=True):
    """Alternatives of devices, which the rule does not take."""

    source: Source | None
