"""Kubernetes' own functions: quantity, url, ip, cidr, semver, format, jsonpatch. Source: apiserver pkg/cel/library.

Semantic versions with the errors of github.com/blang/semver.

Named formats of strings. Source: apiserver cel/library/format.go, apimachinery util/validation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import parse_qs, unquote
from urllib.parse import quote as escape_path

from msgspec import Struct

from kubectl_kres.errors import QuantityError
from kubectl_kres.go_text import quote
from kubectl_kres.policies.cel.base.values import NONE, EvalError, LibraryValue, NotComputed, Optional, size
from kubectl_kres.policies.cel.libraries import addresses
from kubectl_kres.policies.cel.libraries.addresses import BadURL, parse_url
from kubectl_kres.policies.cel.libraries.conversions import parse_timestamp
from kubectl_kres.policies.cel.libraries.overload import Overload, cost_tenth, overload
from kubectl_kres.quantity import Quantity, parse, quantity_of, scale_of_sum


class Format(Struct, frozen=True):
    """``check`` gives the faults of a text; ``size`` is what the server takes for the length of its pattern."""

    name: str
    check: Callable[[str], list[str]]
    size: int


_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_VALUE = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_TOLD = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_TOLD = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_DNS1035_TOLD = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_VALUE_TOLD = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_NAME_TOLD = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")


def _pattern_checker(pattern: str, texts: str, maximum: int, *, prefix: bool) -> Callable[[str], list[str]]:
    compiled = re.compile(pattern, re.ASCII)

    def check(text: str) -> list[str]:
        looked = text[:-1] + "a" if prefix and len(text) > 1 and text.endswith("-") else text
        faults = [f"must be no more than {maximum} bytes"] if len(looked.encode()) > maximum else []
        return faults if compiled.fullmatch(looked) else [*faults, texts]

    return check


def _label_value(text: str) -> list[str]:
    faults = ["must be no more than 63 bytes"] if len(text.encode()) > 63 else []
    return faults if re.fullmatch(_VALUE, text, re.ASCII) else [*faults, _VALUE_TOLD]


def _qualified_name_faults(text: str) -> list[str]:
    faults: list[str] = []
    parts = text.split("/")
    if len(parts) > 2:
        texts = (
            "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
            "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
            "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
            "'example.com/MyName')"
        )
        return [texts]
    if len(parts) == 2:
        if not parts[0]:
            faults.append("prefix part must be non-empty")
        else:
            faults.extend(f"prefix part {fault}" for fault in FORMATS["dns1123Subdomain"].check(parts[0]))
    name = parts[-1]
    if not name:
        faults.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        faults.append("name part must be no more than 63 bytes")
    return faults if re.fullmatch(_QUALIFIED, name, re.ASCII) else [*faults, _NAME_TOLD]


def _uri(text: str) -> list[str]:
    try:
        parse_url(text)
    except BadURL as error:
        return [f'parse "{text}": {error}']
    return []


def _date(text: str) -> list[str]:
    known = re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) and parse_timestamp(f"{text}T00:00:00Z") is not None
    return [] if known else ["invalid date"]


def _datetime(text: str) -> list[str]:
    return [] if parse_timestamp(text.upper()) is not None else ["invalid datetime"]


FORMATS: Mapping[str, Format] = {
    "dns1123Label": Format("DNS1123Label", _pattern_checker(_LABEL, _LABEL_TOLD, 63, prefix=False), 30),
    "dns1123Subdomain": Format(
        "DNS1123Subdomain", _pattern_checker(_SUBDOMAIN, _SUBDOMAIN_TOLD, 253, prefix=False), 60
    ),
    "dns1035Label": Format("DNS1035Label", _pattern_checker(_DNS1035, _DNS1035_TOLD, 63, prefix=False), 30),
    "qualifiedName": Format("QualifiedName", _qualified_name_faults, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _pattern_checker(_LABEL, _LABEL_TOLD, 63, prefix=True), 30),
    "dns1123SubdomainPrefix": Format(
        "DNS1123SubdomainPrefix", _pattern_checker(_SUBDOMAIN, _SUBDOMAIN_TOLD, 253, prefix=True), 60
    ),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _pattern_checker(_DNS1035, _DNS1035_TOLD, 63, prefix=True), 30),
    "labelValue": Format("LabelValue", _label_value, 40),
    "uri": Format("URI", _uri, 1055),
    "uuid": Format("uuid", lambda text: [] if _UUID.fullmatch(text) else ["does not match the UUID format"], 108),
    "byte": Format("byte", lambda text: [] if _BASE64.fullmatch(text) else ["invalid base64"], 84),
    "date": Format("date", _date, 100),
    "datetime": Format("datetime", _datetime, 100),
}  # fmt: skip


_ALPHANUMERIC = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


class BadVersion(ValueError):
    """No semantic version; the text is the library's."""


class Version(Struct, frozen=True):
    """``build`` plays no part in the order."""

    major: int
    minor: int
    patch: int
    pre: tuple[str, ...] = ()

    def precedence(self) -> tuple[object, ...]:
        """Compares as versions do."""
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.pre)
        return (self.major, self.minor, self.patch, not self.pre, parts)


def _digits(text: str) -> bool:
    return text.isascii() and (not text or text.isdigit())


def _number(text: str, name: str) -> int:
    if not _digits(text):
        raise BadVersion(f"Invalid character(s) found in {name} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise BadVersion(f"{name.capitalize()} number must not contain leading zeroes {quote(text)}")
    if not text:
        raise BadVersion('strconv.ParseUint: parsing "": invalid syntax')
    if int(text) >= 2**64:
        raise BadVersion(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return int(text)


def parse_version(text: str) -> Version:
    """Raises BadVersion."""
    if not text:
        raise BadVersion("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise BadVersion("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    rest, plus, build = parts[2].partition("+")
    number, dash, pre = rest.partition("-")
    patch = _number(number, "patch")
    released = tuple(pre.split(".")) if dash else ()
    for part in released:
        _check_pre(part)
    for part in build.split(".") if plus else ():
        if not part:
            raise BadVersion("Build meta data is empty")
        if not set(part) <= _ALPHANUMERIC:
            raise BadVersion(f"Invalid character(s) found in build meta data {quote(part)}")
    return Version(major, minor, patch, released)


def _check_pre(part: str) -> None:
    if not part:
        raise BadVersion("Prerelease is empty")
    if _digits(part):
        if len(part) > 1 and part[0] == "0":
            raise BadVersion(f"Numeric PreRelease version must not contain leading zeroes {quote(part)}")
    elif not set(part) <= _ALPHANUMERIC:
        raise BadVersion(f"Invalid character(s) found in prerelease {quote(part)}")


def parse_relaxed_version(text: str) -> Version:
    """With a ``v`` in front, short versions and leading zeros. Raises BadVersion."""
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped[:1].isdigit() else "0" + stripped
    if len(parts) < 3 and any(char in parts[-1] for char in "+-"):
        raise BadVersion("short version cannot contain PreRelease/Build meta data")
    return parse_version(".".join([*parts, "0", "0"][:3] if len(parts) < 3 else parts))


QUANTITY, URL_TYPE, SEMVER = "kubernetes.Quantity", "kubernetes.URL", "kubernetes.Semver"
IP, CIDR, FORMAT = "net.IP", "net.CIDR", "kubernetes.NamedFormat"
_AUTH = "kubernetes.authorization."
_BAD_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NANO = 10**9


def _quantity(text: str) -> Quantity:
    try:
        return parse(text)
    except QuantityError as error:
        raise EvalError(error.message or _BAD_QUANTITY) from None


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except QuantityError:
        return False
    return True


def _as_integer(quantity: Quantity) -> int:
    """Raises EvalError, also for whole numbers that the server counts in fractions, as ``1000m``.

    Source: apimachinery api/resource amount.go AsInt64.
    """
    if quantity.scale is None or quantity.scale < 0 or abs(quantity.nano // _NANO) >= 2**63 - 1:
        raise EvalError("cannot convert value to integer")
    return quantity.nano // _NANO


def _plus(quantity: Quantity, other: Quantity) -> Quantity:
    total = quantity + other
    return Quantity(total.nano, total.format, scale_of_sum(quantity, other, total.nano))


def _is_integer(quantity: Quantity) -> bool:
    try:
        _as_integer(quantity)
    except EvalError:
        return False
    return True


def _sign_of(number: int) -> int:
    return (number > 0) - (number < 0)


def _quantities() -> Iterator[Overload]:
    text = QUANTITY
    yield overload(f"quantity(string) {text}", _quantity, since=28, cost=cost_tenth)
    yield overload("isQuantity(string) bool", _is_quantity, since=28, cost=cost_tenth)
    yield overload(f"sign({text}) int", lambda quantity: _sign_of(quantity.nano), since=28)
    yield overload(f".isGreaterThan({text}, {text}) bool", lambda a, b: a > b, since=28)
    yield overload(f".isLessThan({text}, {text}) bool", lambda a, b: a < b, since=28)
    yield overload(f".compareTo({text}, {text}) int", lambda a, b: _sign_of(a.nano - b.nano), since=28)
    yield overload(f".asApproximateFloat({text}) double", lambda quantity: quantity.nano / _NANO, since=28)
    yield overload(f".asInteger({text}) int", _as_integer, since=28)
    yield overload(f".isInteger({text}) bool", _is_integer, since=28)
    yield overload(f".add({text}, {text}) {text}", _plus, since=28)
    yield overload(f".add({text}, int) {text}", lambda a, b: _plus(a, quantity_of(b)), since=28)
    yield overload(f".sub({text}, {text}) {text}", lambda a, b: _plus(a, -b), since=28)
    yield overload(f".sub({text}, int) {text}", lambda a, b: _plus(a, quantity_of(-b)), since=28)


def _url(text: str) -> LibraryValue:
    try:
        url = addresses.parse_url(text)
    except addresses.BadURL as error:
        raise EvalError(f"URL parse error during conversion from string: parse {quote(text)}: {error}") from None
    return LibraryValue(URL_TYPE, url.text, url)


def _is_url(text: str) -> bool:
    try:
        addresses.parse_url(text)
    except addresses.BadURL:
        return False
    return True


def _on_url(read: Callable[[addresses.URL], Any]) -> Callable[[LibraryValue], Any]:
    return lambda value: read(value.value)


def _urls() -> Iterator[Overload]:
    yield overload(f"url(string) {URL_TYPE}", _url, cost=cost_tenth)
    yield overload("isURL(string) bool", _is_url)
    for name, read in (
        ("getScheme", lambda url: url.scheme), ("getHost", lambda url: url.host),
        ("getHostname", lambda url: url.hostname), ("getPort", lambda url: url.port),
        ("getEscapedPath", lambda url: escape_path(unquote(url.path), safe="/:@!$&'()*+,;=~") if url.path else ""),
    ):  # fmt: skip
        yield overload(f".{name}({URL_TYPE}) string", _on_url(read))
    yield overload(
        f".getQuery({URL_TYPE}) map(string, list(string))",
        _on_url(lambda url: dict(parse_qs(url.query, keep_blank_values=True))),
    )


def _address(text: str) -> IPv4Address | IPv6Address:
    try:
        return addresses.parse_address(text)
    except addresses.BadAddress as error:
        raise EvalError(str(error)) from None


def _ip(text: str) -> LibraryValue:
    address = _address(text)
    return LibraryValue(IP, address, address)


def _is_ip(text: str) -> bool:
    try:
        addresses.parse_address(text)
    except addresses.BadAddress:
        return False
    return True


def _cidr(text: str) -> LibraryValue:
    try:
        address, bits = addresses.parse_prefix(text)
    except addresses.BadAddress as error:
        raise EvalError(f"network address parse error during conversion from string: {error}") from None
    return LibraryValue(CIDR, (address, bits), _Prefix(address, bits))


def _is_cidr(text: str) -> bool:
    try:
        addresses.parse_prefix(text)
    except addresses.BadAddress:
        return False
    return True


class _Prefix(Struct, frozen=True):
    """An address with the length of its prefix; bits behind the prefix may be set."""

    address: IPv4Address | IPv6Address
    bits: int

    @property
    def max_prefixlen(self) -> int:
        return self.address.max_prefixlen

    def network(self) -> Any:
        return ip_network(f"{self.address}/{self.bits}", strict=False)


def _contains_ip(cidr: LibraryValue, address: LibraryValue | str) -> bool:
    wanted = _address(address) if isinstance(address, str) else address.value
    network = cidr.value.network()
    return bool(wanted.version == network.version and wanted in network)


def _contains_cidr(cidr: LibraryValue, other: LibraryValue | str) -> bool:
    inner = (_cidr(other) if isinstance(other, str) else other).value
    outer = cidr.value.network()
    if inner.network().version != outer.version:
        return False
    return bool(outer.overlaps(inner.network()) and cidr.value.bits <= inner.bits)


def _mask_cidr(cidr: LibraryValue) -> LibraryValue:
    network = cidr.value.network()
    return LibraryValue(
        CIDR, (network.network_address, cidr.value.bits), _Prefix(network.network_address, cidr.value.bits)
    )


def _global_unicast(address: IPv4Address | IPv6Address) -> bool:
    broadcast = isinstance(address, IPv4Address) and address == ip_address("255.255.255.255")
    return not (
        address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local or broadcast
    )


_LOCAL4, _LOCAL6 = IPv4Network("224.0.0.0/24"), ip_network("ff02::/16")


def _link_local_multicast(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in _LOCAL4
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


def _on_ip(read: Callable[[Any], Any]) -> Callable[[LibraryValue], Any]:
    return lambda value: read(value.value)


def _cost_twice(args: tuple[Any, ...], _result: Any) -> int:
    return math.ceil(size(args[0]) * 0.2)


def _networks() -> Iterator[Overload]:
    yield overload(f"ip(string) {IP}()", _ip, since=30, cost=cost_tenth)
    yield overload("ip.isCanonical(string) bool", lambda text: str(_address(text)) == text, since=30, cost=_cost_twice)
    yield overload("isIP(string) bool", _is_ip, since=30, cost=cost_tenth)
    yield overload(f"string({IP}()) string", _on_ip(str), since=30)
    for name, read in (
        ("family", lambda ip: ip.version), ("isUnspecified", lambda ip: ip.is_unspecified),
        ("isLoopback", lambda ip: ip.is_loopback), ("isLinkLocalMulticast", _link_local_multicast),
        ("isLinkLocalUnicast", lambda ip: ip.is_link_local), ("isGlobalUnicast", _global_unicast),
    ):  # fmt: skip
        yield overload(f".{name}({IP}()) {'int' if name == 'family' else 'bool'}", _on_ip(read), since=30)
    yield overload(f"cidr(string) {CIDR}()", _cidr, since=30, cost=cost_tenth)
    yield overload("isCIDR(string) bool", _is_cidr, since=30, cost=cost_tenth)
    yield overload(f".containsIP({CIDR}(), string) bool", _contains_ip, since=30)
    yield overload(f".containsIP({CIDR}(), {IP}()) bool", _contains_ip, since=30)
    yield overload(f".containsCIDR({CIDR}(), string) bool", _contains_cidr, since=30)
    yield overload(f".containsCIDR({CIDR}(), {CIDR}()) bool", _contains_cidr, since=30)
    yield overload(
        f".ip({CIDR}()) {IP}()", lambda value: LibraryValue(IP, value.value.address, value.value.address), since=30
    )
    yield overload(f".prefixLength({CIDR}()) int", lambda value: value.value.bits, since=30)
    yield overload(f".masked({CIDR}()) {CIDR}()", _mask_cidr, since=30)
    yield overload(f"string({CIDR}()) string", lambda value: f"{value.value.address}/{value.value.bits}", since=30)


def _semver(text: str, normalize: bool = False) -> LibraryValue:  # noqa: FBT001, FBT002
    try:
        version = parse_relaxed_version(text) if normalize else parse_version(text)
    except BadVersion as error:
        raise EvalError(str(error)) from None
    return LibraryValue(SEMVER, version.precedence(), version)


def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002
    try:
        _semver(text, normalize)
    except EvalError:
        return False
    return True


def _versions(opaque: LibraryValue, other: LibraryValue) -> int:
    a, b = opaque.value.precedence(), other.value.precedence()
    return int(a > b) - int(a < b)


def _reader(read: Callable[[Version], int]) -> Callable[[LibraryValue], int]:
    return lambda value: read(value.value)


def _semvers() -> Iterator[Overload]:
    yield overload(f"semver(string) {SEMVER}", _semver, since=33, cost=cost_tenth)
    yield overload(f"semver(string, bool) {SEMVER}", _semver, since=33, cost=cost_tenth)
    yield overload("isSemver(string) bool", _is_semver, since=33, cost=cost_tenth)
    yield overload("isSemver(string, bool) bool", _is_semver, since=33, cost=cost_tenth)
    yield overload(f".isGreaterThan({SEMVER}, {SEMVER}) bool", lambda a, b: _versions(a, b) > 0, since=33)
    yield overload(f".isLessThan({SEMVER}, {SEMVER}) bool", lambda a, b: _versions(a, b) < 0, since=33)
    yield overload(f".compareTo({SEMVER}, {SEMVER}) int", _versions, since=33)
    for name in ("major", "minor", "patch"):
        yield overload(f".{name}({SEMVER}) int", _reader(lambda version, name=name: getattr(version, name)), since=33)  # type: ignore[misc]


def _find_format(name: str) -> Optional:
    return (
        Optional(present=True, value=LibraryValue(FORMAT, FORMATS[name].name, FORMATS[name]))
        if name in FORMATS
        else NONE
    )


def _validate(opaque: LibraryValue, text: str) -> Optional:
    faults = opaque.value.check(text)
    return Optional(present=True, value=faults) if faults else NONE


def _cost_format(args: tuple[Any, ...], _result: Any) -> int:
    return math.ceil((1 + size(args[1])) * 0.1) * math.ceil(int(args[0].value.size) * 0.25)


def _formats() -> Iterator[Overload]:
    yield overload(f"format.named(string) optional_type({FORMAT})", _find_format, since=31)
    yield overload(f".validate({FORMAT}, string) optional_type(list(string))", _validate, since=31, cost=_cost_format)
    for name in FORMATS:
        yield overload(f"format.{name}() {FORMAT}", lambda name=name: _find_format(name).value, since=31)


def authorizer_of(groups: Sequence[str]) -> LibraryValue:
    """``authorizer``: who is in system:masters may do everything; of others it is not known here."""
    masters = "system:masters" in groups
    return LibraryValue(f"{_AUTH}Authorizer", masters, masters)


def request_check_of(groups: Sequence[str]) -> LibraryValue:
    """``authorizer.requestResource``."""
    masters = "system:masters" in groups
    return LibraryValue(f"{_AUTH}ResourceCheck", masters, masters)


def _kind_converter(kind: str) -> Callable[..., LibraryValue]:
    return lambda target, *_: LibraryValue(kind, target.key, target.value)


def _check(target: LibraryValue, _verb: str) -> LibraryValue:
    if not target.value:
        raise NotComputed("what the authorizer says")
    return LibraryValue(f"{_AUTH}Decision", True, True)


def _cost_check(_args: tuple[Any, ...], _result: Any) -> int:
    return 350_000


def _authorizers() -> Iterator[Overload]:
    """Declared, so that expressions are checked; what the API server's authorizer says is not known here."""
    authorizer, path, group, resource, decision = (
        f"{_AUTH}{name}" for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
    )
    for signature in (
        f".path({authorizer}, string) {path}", f".group({authorizer}, string) {group}",
        f".resource({group}, string) {resource}", f".subresource({resource}, string) {resource}",
        f".namespace({resource}, string) {resource}", f".name({resource}, string) {resource}",
    ):  # fmt: skip
        yield overload(signature, _kind_converter(signature.rpartition(" ")[2]), since=27)
    yield overload(
        f".serviceAccount({authorizer}, string, string) {authorizer}", lambda *_: authorizer_of(()), since=27
    )
    for checked in (path, resource):
        yield overload(f".check({checked}, string) {decision}", _check, since=27, cost=_cost_check)
    for name, kind, value in (
        ("errored", "bool", False),
        ("error", "string", ""),
        ("allowed", "bool", True),
        ("reason", "string", ""),
    ):
        yield overload(f".{name}({decision}) {kind}", lambda _, value=value: value, since=27)
    for name in ("fieldSelector", "labelSelector"):
        yield overload(f".{name}({resource}, string) {resource}", _kind_converter(resource), since=31)


def _escape_key(text: str) -> str:
    return re.sub("[/~]", lambda match: "~1" if match[0] == "/" else "~0", text)


#: What only a mutating policy may call.
PATCH_OVERLOADS = (overload("jsonpatch.escapeKey(string) string", _escape_key, cost=cost_tenth),)
OVERLOADS = (*_quantities(), *_urls(), *_networks(), *_semvers(), *_formats(), *_authorizers())
