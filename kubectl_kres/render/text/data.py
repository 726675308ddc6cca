"""Reports as one JSON or YAML document, and YAML lines that know their path, so that a reason can stand beside each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from kubectl_kres.admission.base.versions import version_caveat
from kubectl_kres.record import HOLDER, SENTENCE
from kubectl_kres.render.text.line import sanitize_text
from kubectl_kres.render.text.sentences import in_words, plain_sentence
from kubectl_kres.store.store import Origin

API_VERSION = "kres/v1alpha1"


def document(
    kind: str,
    items: Sequence[Any],
    origin: Origin,
    *,
    complete: bool,
    unread: Sequence[Any] = (),
    kube_version: str = "",
) -> dict[str, Any]:
    """Return the envelope of every machine-readable answer; keys camel case, quantities canonical strings.

    ``complete`` False: something that an answer needs could not be read. ``unread``: the kinds that could not be, also
    those that only add to it. ``kube_version``: asked for instead of the
    server's own.
    """
    metadata = {
        "source": origin.kind,
        "name": origin.name,
        "context": origin.context,
        "serverVersion": origin.version,
        "time": origin.time,
        "assumed": version_caveat(kube_version or origin.version),
    }
    shown = {key: value for key, value in metadata.items() if value}
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {**shown, "complete": complete, **({"unread": to_plain(unread)} if unread else {})},
        "items": [to_plain(item) for item in items],
    }


def to_plain(report: Any) -> Any:
    """Return a report as mappings and lists. What systems add to an answer stands in it as fields of its own, and a
    sentence in words.
    """
    return _with_parts(msgspec.to_builtins(report))


def _with_parts(value: Any) -> Any:
    if isinstance(value, Mapping):
        if SENTENCE in value:
            return plain_sentence({key: _with_parts(item) for key, item in value.items()})
        fields: dict[str, Any] = {}
        for key, item in value.items():
            if key.startswith(HOLDER) and isinstance(item, Mapping):
                fields.update(_with_parts(item))
            else:
                fields[key] = _with_parts(item)
        return fields
    return [_with_parts(item) for item in value] if isinstance(value, list | tuple) else value


#: What a terminal may obey and JSON lets stand as it is: DEL, C1, bidirectional marks, separators.
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


#: How JSON writes the beginning of a field that holds parts of systems, or the kind of a sentence.
_HOLDERS = f'"{HOLDER}'.encode()

#: How the YAML emitter writes half a surrogate pair, which no reader takes.
_HALF = re.compile(r"\\uD[89A-F]")


def to_json(value: Any) -> str:
    """Indented. What a terminal may obey is escaped, which changes nothing for a program that reads it."""
    shown = msgspec.json.format(to_json_bytes(value), indent=2).decode()
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", shown)


class Item(Struct, frozen=True):
    """An item of a document in JSON, drawn already: indented as it stands there."""

    text: str


def item(value: Any) -> Item:
    """As it stands in a document."""
    shown = to_json(value).replace("\n", "\n    ")
    return Item(f"    {shown}")


def to_json_bytes(value: Any) -> bytes:
    """As JSON. Half a surrogate pair, which a file can hold, becomes U+FFFD, as Go reads it."""
    try:
        encoded = msgspec.json.encode(value)
        if _HOLDERS not in encoded:
            return encoded
        # The sentences of most answers are fields of their own: in words they are encoded as quickly as texts.
        worded = in_words(value) if isinstance(value, Struct) else value
        return to_json_bytes(worded) if worded is not value else msgspec.json.encode(to_plain(value))
    except (UnicodeEncodeError, OverflowError):
        text = json.dumps(to_plain(value), ensure_ascii=False)
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def to_yaml(value: Any) -> str:
    """Block style. Texts keep their characters unless a terminal may obey one, then all of ASCII's are escaped."""
    shown = _dump_yaml(value, allow_unicode=True)
    if sanitize_text(shown, keep_newlines=True) == shown and not _HALF.search(shown):
        return shown
    return _dump_yaml(msgspec.json.decode(to_json_bytes(value)), allow_unicode=False)


#: The first byte of a character that libyaml would escape, and what stands for half a surrogate pair, which it refuses.
_BEYOND = re.compile(b"[\xf0-\xf4]|\xef\xbf\xbd")


def _dump_yaml(value: Any, *, allow_unicode: bool) -> str:
    import yaml  # noqa: PLC0415 - costs 15 ms that only this format needs

    # Written by libyaml it takes a fiftieth of the time, which long texts need.
    plain = allow_unicode and _BEYOND.search(to_json_bytes(value))
    dumper = yaml.SafeDumper if plain else getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=allow_unicode, width=10_000))


#: Texts that every YAML reader takes as the same string without quotes.
_BARE = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*|[0-9]+([munk]|[KMGTPE]i?)")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
#: What Kubernetes addresses by key rather than by field.
_KEYED = ("limits", "requests", "overhead", "annotations")


def yaml_lines(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each line with the path of what it holds, as the server writes paths. Keys are sorted, as kubectl prints
    them.
    """
    pairs: list[tuple[str, str]] = []
    _mapping(document, "", "", pairs)
    return pairs


def _mapping(node: Mapping[str, Any], indent: str, path: str, pairs: list[tuple[str, str]]) -> None:
    keyed = path.endswith(_KEYED)
    for key in sorted(node):
        value = node[key]
        item_path = f"{path}[{key}]" if keyed else f"{path}.{key}" if path else key
        head = f"{indent}{scalar(key)}:"
        if isinstance(value, str):
            pairs.append((f"{head} {scalar(value)}", item_path))
        elif isinstance(value, Mapping):
            pairs.append((f"{head} {{}}" if not value else head, item_path))
            _mapping(value, f"{indent}  ", item_path, pairs)
        elif isinstance(value, Sequence):
            pairs.append((f"{head} []" if not value else head, item_path))
            _sequence(value, indent, item_path, pairs)
        else:
            pairs.append((f"{head} {scalar(value)}", item_path))


def _sequence(items: Sequence[Any], indent: str, path: str, pairs: list[tuple[str, str]]) -> None:
    for index, item in enumerate(items):
        item_path = f"{path}[{index}]"
        if not isinstance(item, Mapping):
            pairs.append((f"{indent}- {scalar(item)}", item_path))
            continue
        first = len(pairs)
        _mapping(item, f"{indent}  ", item_path, pairs)
        if len(pairs) > first:
            line, first_place = pairs[first]
            pairs[first] = f"{indent}- {line[len(indent) + 2 :]}", first_place


def scalar(value: Any) -> str:
    """Return a value on one line; quoted where a reader could take it for something other than that string."""
    return _text(value) if isinstance(value, str) else json.dumps(value)


@lru_cache(4096)
def _text(value: str) -> str:
    if _BARE.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
