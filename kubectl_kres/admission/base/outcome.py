"""The answer of the API server to one request, or one of several where its order is arbitrary.

Its errors have the server's words: path, reason and detail. ``Server`` is what admission is computed for: version,
feature gates, plugin configuration.

The place of a value in an object, as the API server writes it: ``spec.containers[0].resources.limits[cpu]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from kubectl_kres.admission.base.versions import CHANGES, GATES, NEWEST, Version
from kubectl_kres.model.objects import ScopedRequirement
from kubectl_kres.provenance.journal import Journal, Source


class MapKey(str):
    """A key of a map, which is written in brackets; other names are fields and stand after a dot."""

    __slots__ = ()


#: One step into an object: a field, an index of a list, a key of a map.
Step = str | int


class FieldPath(NamedTuple):
    """The steps from an object to one of its values; none: the object itself."""

    steps: tuple[Step, ...] = ()

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Return the path that ``text`` writes. A name of a container in brackets is a key; any text is some path."""
        steps: list[Step] = []
        rest = text
        while rest:
            if rest.startswith("["):
                inside, _, rest = rest[1:].partition("]")
                steps.append(int(inside) if inside.isascii() and inside.isdigit() else MapKey(inside))
            else:
                final_states = [index for index in (rest.find("."), rest.find("[")) if index >= 0]
                end = min(final_states, default=len(rest))
                if end:
                    steps.append(rest[:end])
                rest = rest[end:]
            rest = rest.removeprefix(".")
        return cls(tuple(steps))

    def __str__(self) -> str:
        parts: list[str] = []
        for step in self.steps:
            if isinstance(step, (int, MapKey)):
                parts.append(f"[{step}]")
            else:
                parts.append(f".{step}" if parts else step)
        return "".join(parts)

    @property
    def holder(self) -> FieldPath:
        """What has the requests and limits that the path leads into: a container, or ``spec``; else the path itself."""
        return FieldPath(self.steps[: self.steps.index("resources")]) if "resources" in self.steps else self

    @property
    def requests_or_limits(self) -> str:
        """``requests`` or ``limits``; empty for a path that leads to neither."""
        if "resources" not in self.steps:
            return ""
        after = self.steps[self.steps.index("resources") + 1 :]
        return next((str(step) for step in after if step in {"requests", "limits"}), "")

    @property
    def resource(self) -> str:
        """The resource that the path ends in; empty for a path that leads to no quantity."""
        keys = [step for step in self.steps if isinstance(step, MapKey)]
        return str(keys[-1]) if keys and self.requests_or_limits else ""

    @property
    def container(self) -> int | None:
        """The number of the container in ``spec.resources.containers[0][cpu].limits`` (the server's odd path)."""
        for before, step in zip(self.steps, self.steps[1:], strict=False):
            if before == "containers" and isinstance(step, int):
                return step
        return None

    @property
    def claim_template(self) -> str:
        """``spec.volumeClaimTemplates[0]`` of a path below it; empty for any other."""
        under = self.steps[:2] == ("spec", "volumeClaimTemplates") and len(self.steps) > 2
        return str(FieldPath(self.steps[:3])) if under else ""


#: Gates that can no longer be switched off, from this minor version on.
LOCKED: Mapping[str, int] = {name: gate.locked for name, gate in GATES.items() if gate.locked is not None}


class LimitedResource(Struct, frozen=True, rename="camel"):
    """An entry of ``limitedResources`` in the ResourceQuota plugin's configuration."""

    resource: str
    api_group: str = ""
    match_contains: tuple[str, ...] = ()
    match_scopes: tuple[ScopedRequirement, ...] = ()


class Server(Struct, frozen=True):
    """Version and configuration. Gates that are not named have the version's default.

    ``binary``: the version of the program where it emulates another one, which is ``version``. ``disabled_changes``:
    changes of ``admission.base.versions`` that it is to do without, so that the cause of a difference can be found.
    """

    version: Version = NEWEST
    gates: Mapping[str, bool] = {}
    limited_resources: tuple[LimitedResource, ...] = ()
    disabled_plugins: frozenset[str] = frozenset()
    binary: Version | None = None
    disabled_changes: frozenset[str] = frozenset()

    def is_enabled(self, gate: str) -> bool:
        """Return whether a gate is on: as configured if the version knows it, else the version's default."""
        known, minor = GATES[gate], self.version[1]
        if minor < known.exists or not all(self.is_enabled(other) for other in known.requires):
            return False
        if known.locked is not None and minor >= known.locked:
            return True
        return self.gates.get(gate, known.on is not None and minor >= known.on)

    def has_change(self, change: str) -> bool:
        """Return whether it does what ``CHANGES`` of ``admission.base.versions`` names: by its gate, else by its
        version.
        """
        known = CHANGES[change]
        if change in self.disabled_changes:
            return False
        if known.gate:
            return self.is_enabled(known.gate)
        return (self.version if known.emulated else self.binary or self.version)[1] >= known.minor


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
            "\v": "\\v"}  # fmt: skip

_INVALID, _REQUIRED, _FORBIDDEN = "FieldValueInvalid", "FieldValueRequired", "FieldValueForbidden"


class FieldError(Struct, frozen=True):
    """One fault that validation found. ``text`` is what follows the path, ``rule`` the code of the rule that refused.

    ``resource``, ``value`` and ``bound`` are given where a quantity was held against another one.
    Source: apimachinery util/validation/field/errors.go.
    """

    field: str
    reason: str
    text: str
    rule: str = ""
    resource: str = ""
    value: str = ""
    bound: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.text}"


def quote(text: str) -> str:
    """Return the text as Go's strconv.Quote prints it, which is what ``%q`` does."""
    return f'"{"".join(map(_escape_character, text))}"'


def as_json(value: object) -> str:
    """Return a value as Go's JSON encoder prints it, with ``<``, ``>`` and ``&`` escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _escape_character(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if char.isprintable():
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def invalid(
    field: str, value: object, detail: str, rule: str = "", *, resource: str = "", bound: str = "", typed: bool = False
) -> FieldError:
    """``typed``: the value is of a string type of its own in Go, which the server prints as JSON, as lists and maps."""
    plain = (isinstance(value, str) and not typed) or not isinstance(value, (str, list, tuple, dict, type(None)))
    shown = quote(str(value)) if plain else as_json(value)
    compared = str(value) if bound else ""
    return FieldError(field, _INVALID, f"Invalid value: {shown}: {detail}", rule, resource, compared, bound)


def number(field: str, value: int, detail: str, rule: str = "") -> FieldError:
    """Of a value that is a number or a boolean: it is shown without quotes."""
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return FieldError(field, _INVALID, f"Invalid value: {shown}: {detail}", rule)


def invalid_field(field: str, detail: str, rule: str = "") -> FieldError:
    """Of a value that is not shown."""
    return FieldError(field, _INVALID, f"Invalid value: {detail}", rule)


def required(field: str, detail: str = "", rule: str = "", *, resource: str = "") -> FieldError:
    return FieldError(field, _REQUIRED, f"Required value: {detail}" if detail else "Required value", rule, resource)


def forbidden(field: str, detail: str, rule: str = "") -> FieldError:
    return FieldError(field, _FORBIDDEN, f"Forbidden: {detail}", rule)


def too_long(field: str, maximum: int, rule: str = "") -> FieldError:
    return FieldError(field, "FieldValueTooLong", f"Too long: may not be more than {maximum} bytes", rule)


def too_many(field: str, number: int, maximum: int, rule: str = "") -> FieldError:
    """``maximum`` is more than one."""
    return FieldError(field, "FieldValueTooMany", f"Too many: {number}: must have at most {maximum} items", rule)


def duplicate(field: str, value: str | int, rule: str = "", *, typed: bool = False) -> FieldError:
    shown = as_json(value) if typed else quote(str(value))
    return FieldError(field, "FieldValueDuplicate", f"Duplicate value: {shown}", rule)


def not_supported(
    field: str, value: str, supported: Sequence[str], rule: str = "", *, in_order: bool = False, typed: bool = True
) -> FieldError:
    """``in_order``: one of the few places where the server does not sort what it supports.

    ``typed``: see ``invalid``; most choices are.
    """
    shown = ", ".join(map(quote, supported if in_order else sorted(supported)))
    text = f"Unsupported value: {as_json(value) if typed else quote(value)}: supported values: {shown}"
    return FieldError(field, "FieldValueNotSupported", text, rule)


def not_found(field: str, value: str, detail: str = "", rule: str = "") -> FieldError:
    return FieldError(field, "FieldValueNotFound", f"Not found: {quote(value)}{detail and f': {detail}'}", rule)


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
    asked: str = ""
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
    far as admission got (``admission.draft.Draft``); None if the request could not be decoded.
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
    findings = tuple(Finding(str(e), e.rule, e.field, e.resource, asked=e.value, limit=e.bound) for e in errors)
    message = f'{kind} "{name}" is invalid: {join_messages(finding.text for finding in findings)}'
    return Refusal(422, "Invalid", message, findings, tuple(causes))


def forbidden_object(resource: str, name: str, findings: Sequence[Finding]) -> Refusal:
    """403 of an admission plugin. ``resource`` is the plural with its group."""
    message = f'{resource} "{name}" is forbidden: {join_messages(finding.text for finding in findings)}'
    return Refusal(403, "Forbidden", message, tuple(findings))
