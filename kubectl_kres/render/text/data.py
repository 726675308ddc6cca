"""Reports as one JSON or YAML document."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.versions import beyond_rules
from kubectl_kres.render.text.line import plain
from kubectl_kres.store.store import Origin

API_VERSION = "kres/v1alpha1"


def document(
    kind: str, items: Sequence[Any], origin: Origin, *, complete: bool, kube_version: str = ""
) -> dict[str, Any]:
    """The envelope of every machine-readable answer; keys camel case, quantities canonical strings.

    ``complete`` False: something that an answer needs could not be read. ``kube_version``: asked for instead of the
    server's own.
    """
    metadata = {
        "source": origin.kind,
        "name": origin.name,
        "context": origin.context,
        "serverVersion": origin.version,
        "time": origin.time,
        "assumed": beyond_rules(kube_version or origin.version),
    }
    shown = {key: value for key, value in metadata.items() if value}
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {**shown, "complete": complete},
        "items": [msgspec.to_builtins(item) for item in items],
    }


#: What a terminal may obey and JSON lets stand as it is: DEL, C1, bidirectional marks, separators.
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


#: How the YAML emitter writes half a surrogate pair, which no reader takes.
_HALF = re.compile(r"\\uD[89A-F]")


def to_json(value: Any) -> str:
    """Indented. What a terminal may obey is escaped, which changes nothing for a program that reads it."""
    shown = msgspec.json.format(encoded(value), indent=2).decode()
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", shown)


class Item(Struct, frozen=True):
    """An item of a document in JSON, drawn already: indented as it stands there."""

    text: str


def item(value: Any) -> Item:
    """As it stands in a document."""
    shown = to_json(value).replace("\n", "\n    ")
    return Item(f"    {shown}")


def encoded(value: Any) -> bytes:
    """As JSON. Half a surrogate pair, which a file can hold, becomes U+FFFD, as Go reads it."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def to_yaml(value: Any) -> str:
    """Block style. Texts keep their characters unless a terminal may obey one, then all of ASCII's are escaped."""
    import yaml  # noqa: PLC0415 - costs 15 ms that only this format needs

    shown: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
    if plain(shown, keep_newlines=True) == shown and not _HALF.search(shown):
        return shown
    whole = msgspec.json.decode(encoded(value))
    return str(yaml.safe_dump(whole, sort_keys=False, allow_unicode=False, width=10_000))
