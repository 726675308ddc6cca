"""Named formats of strings. Source: apiserver cel/library/format.go, apimachinery util/validation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from kubectl_kres.policies.cel.libraries.addresses import BadURL, parse_url
from kubectl_kres.policies.cel.libraries.conversions import parse_timestamp


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
