"""The answer of the API server to one request, or one of several where its order is arbitrary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres.admission.base.field_errors import FieldError
from kubectl_kres.admission.base.field_path import FieldPath
from kubectl_kres.admission.base.server import Server
from kubectl_kres.provenance.journal import Journal, Source


def join_messages(texts: Iterable[str]) -> str:
    """Return one text as it is, several in brackets; equal texts once. The server's order is arbitrary, ours is sorted.

    Source: apimachinery util/errors Aggregate.
    """
    distinct = sorted(set(texts))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


class StatusCause(Struct, frozen=True, rename="camel"):
    """An entry of ``details.causes``."""

    field: str
    reason: str
    message: str


class Finding(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One reason to refuse. ``text`` is the server's sentence, which several findings can share.

    path: the value or the container concerned, as the server writes paths. resource: its name, in a quota the quota's
    name for it. asked and limit: the quantities that were compared, and used: what counts beside what was asked.
    observed and expected: what was found and what there should be where these are no quantities. source: the object
    and field that set the limit.
    """

    text: str
    rule: str
    path: str = ""
    resource: str = ""
    used: str = ""
    requested: str = ""
    limit: str = ""
    observed: str = ""
    expected: str = ""
    source: Source | None = None

    @property
    def field_path(self) -> FieldPath:
        """The path as a value."""
        return FieldPath.parse(self.path)


class Refusal(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Why the server would refuse: its code, reason, message and causes, and the findings behind them."""

    code: int
    reason: str
    message: str
    findings: tuple[Finding, ...]
    causes: tuple[StatusCause, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The distinct sentences that ``message`` joins."""
        return tuple(sorted({finding.text for finding in self.findings}))


class QuotaCharge(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What the request costs one quota: names in both, as ``status.used`` before and after."""

    quota: str
    requested: Mapping[str, str]
    used: Mapping[str, str]
    after: Mapping[str, str]
    hard: Mapping[str, str]


class Outcome(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One possible answer. ``object`` is the stored object, pruned to what resources and quotas depend on.

    ``order`` names the LimitRanges in the order that leads here, where the order matters. ``draft``: the quantities as
    far as admission got (a ``Draft``); None if the request could not be decoded.
    """

    allowed: bool
    code: int
    refusal: Refusal | None = None
    warnings: tuple[str, ...] = ()
    object: Mapping[str, Any] | None = None
    charges: tuple[QuotaCharge, ...] = ()
    journal: Journal = ()
    order: tuple[str, ...] = ()
    draft: Any = None

    @property
    def reason(self) -> str:
        return self.refusal.reason if self.refusal else ""

    @property
    def message(self) -> str:
        return self.refusal.message if self.refusal else ""

    @property
    def causes(self) -> tuple[StatusCause, ...]:
        return self.refusal.causes if self.refusal else ()

    @property
    def unordered(self) -> bool:
        return self.refusal is not None and len(self.refusal.parts) > 1


def unparsable(kind: str, version: str, error: str, path: str, text: str) -> Refusal:
    """400: nothing else is reported with it. The server does not name the path; the finding does."""
    return bad_request(kind, version, Finding(error, "quantity/unparsable", path, observed=text))


def bad_request(kind: str, version: str, finding: Finding) -> Refusal:
    """400 of the decoder, which ends at the first fault."""
    message = f'{kind} in version "{version}" cannot be handled as a {kind}: {finding.text}'
    return Refusal(400, "BadRequest", message, (finding,))


def invalid_object(kind: str, name: str, errors: Sequence[FieldError], server: Server | None = None) -> Refusal:
    """422 with all errors; equal texts once in the message, before 1.37 each among the causes.

    ``server`` None: one of the newest version.
    """
    causes = [StatusCause(e.field, e.reason, e.text) for e in errors]
    if (server or Server()).has_change("validation/causes-once"):
        causes = list(dict.fromkeys(causes))
    causes.sort(key=lambda cause: (cause.field, cause.message))
    findings = tuple(Finding(str(e), e.rule, e.field, e.resource, requested=e.value, limit=e.bound) for e in errors)
    message = f'{kind} "{name}" is invalid: {join_messages(finding.text for finding in findings)}'
    return Refusal(422, "Invalid", message, findings, tuple(causes))


def forbidden_object(resource: str, name: str, findings: Sequence[Finding]) -> Refusal:
    """403 of an admission plugin. ``resource`` is the plural with its group."""
    message = f'{resource} "{name}" is forbidden: {join_messages(finding.text for finding in findings)}'
    return Refusal(403, "Forbidden", message, tuple(findings))
