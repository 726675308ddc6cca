"""YAML as plain values, in one pass over the parser's events: a file of thousands of contexts must not be felt."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import events

#: The C parser where PyYAML has it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_CORE = "tag:yaml.org,2002:"
#: What a plain scalar must begin with to be anything else than a string.
_SUSPECT = frozenset("-+.0123456789~nNtTfFyYoO")
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE, _FALSE = (
    frozenset(form for word in words for form in (word, word.capitalize(), word.upper()))
    for words in (("true", "yes", "on", "y"), ("false", "no", "off", "n"))
)
_WHOLE = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+|0o?[0-7]+|0b[01]+|[0-9]+)")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_MERGE = "<<"


class TreeError(Exception):
    """The text is no YAML. The message names the line, and never quotes the text: it may hold secrets."""


def parse(content: bytes) -> Any:
    """The first document; None if there is none. Times stay strings, an alias is the value of its anchor.

    Raises TreeError. Source: go.yaml.in/yaml v2 resolve.go, which kubectl reads kubeconfigs with.
    """
    try:
        stream = yaml.parse(content, Loader=_LOADER)
        for event in stream:
            if isinstance(event, events.DocumentStartEvent):
                return _value(next(stream), stream, {})
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise TreeError(line + _unquoted(error.problem or error.context or "is no YAML")) from None
    except yaml.YAMLError as error:
        raise TreeError(_unquoted(" ".join(str(error).split()))) from None
    except RecursionError:
        raise TreeError("nested too deeply") from None
    except ValueError:
        raise TreeError("holds a value that cannot be read") from None
    return None


def _unquoted(text: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", text)


def _value(event: Any, stream: Iterator[Any], anchors: dict[str, Any]) -> Any:
    kind = type(event)
    if kind is events.ScalarEvent:
        text = event.value
        if event.tag is None and event.anchor is None:  # nearly all there is
            return text if event.style or (text and text[0] not in _SUSPECT) else _plain(text)
        value = _scalar(event)
    elif kind is events.MappingStartEvent:
        value = _mapping(stream, anchors)
    elif kind is events.SequenceStartEvent:
        value = []
        while type(item := next(stream)) is not events.SequenceEndEvent:
            value.append(_value(item, stream, anchors))
    else:
        if event.anchor not in anchors:
            raise TreeError(f"line {event.start_mark.line + 1}: an alias without an anchor")
        return anchors[event.anchor]
    if event.anchor:
        anchors[event.anchor] = value
    return value


def _mapping(stream: Iterator[Any], anchors: dict[str, Any]) -> dict[Any, Any]:
    """Later keys win over earlier ones, own keys over those merged in with ``<<``."""
    value: dict[Any, Any] = {}
    merged: list[Any] = []
    while type(event := next(stream)) is not events.MappingEndEvent:
        key = _value(event, stream, anchors)
        result = _value(next(stream), stream, anchors)
        if key == _MERGE and not getattr(event, "style", True):
            merged += result if isinstance(result, list) else [result]
        elif isinstance(key, dict | list):
            raise TreeError(f"line {event.start_mark.line + 1}: a key is no scalar")
        else:
            value[key] = result
    for other in merged:
        if not isinstance(other, dict):
            raise TreeError("map merge requires map or sequence of maps as the value")
        value = {**other, **value}
    return value


def _scalar(event: Any) -> Any:
    text: str = event.value
    if event.tag and event.tag != "!":
        return _tagged(text, event)
    if event.style or event.tag:
        return text
    return _plain(text) if not text or text[0] in _SUSPECT else text


def _tagged(text: str, event: Any) -> Any:
    if event.tag == f"{_CORE}str":
        return text
    if event.tag == f"{_CORE}binary":
        return b64decode(text).decode()
    if event.tag.startswith(_CORE) and "/" not in event.tag:
        return _plain(text)
    raise TreeError(f"line {event.start_mark.line + 1}: could not determine a constructor for the tag")


def _plain(text: str) -> Any:
    """What a scalar without quotes is."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _WHOLE.fullmatch(text):
        sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("", text)
        octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0" and set(digits) <= set("01234567")
        return int(sign + (f"0o{digits}" if octal else digits), 0 if octal or not digits.isdigit() else 10)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text
