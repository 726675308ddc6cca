"""The user's settings file: what it may hold, and each fault in it with the line of its key, which tomllib does not
say.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError

from kubectl_kres.errors import InputError, InputErrors


def find_statement_line(text: str, path: Sequence[str]) -> int:
    """Return the line (from 1) where the statement begins that first names ``path``, or something below it; 0: none
    does.

    ``text`` is a valid document.
    """
    table: tuple[str, ...] = ()
    for line, statement, parsed in _statements(text):
        header = statement.startswith("[")
        if header:
            table = tuple(_keys(parsed))
        # A header's last table is empty, a key's path ends in its value.
        if _names(parsed, path, () if header else table):
            return line
    return 0


def _statements(text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Line, text and what it parses to, of each statement.

    The lines of a valid document are taken together until they parse alone: a statement ends with its line, and a part
    of one is none.
    """
    first, statement = 1, ""
    for number, line in enumerate(text.split("\n"), start=1):
        statement += line + "\n"
        try:
            parsed = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        if parsed:
            yield first, statement.lstrip(), parsed
        first, statement = number + 1, ""


def _keys(parsed: Any) -> Iterator[str]:
    """The names of a header that was parsed alone, ``[[a.b]]`` included."""
    while isinstance(parsed, dict) and parsed:
        name, parsed = next(iter(parsed.items()))
        yield name
        if isinstance(parsed, list):
            parsed = parsed[0]


def _names(parsed: Mapping[str, Any], path: Sequence[str], table: Sequence[str]) -> bool:
    """Return whether a statement below ``table`` names the path."""
    if table[: len(path)] == tuple(path):
        return True
    if tuple(path[: len(table)]) != tuple(table):
        return False
    result: Any = parsed
    for key in path[len(table) :]:
        if isinstance(result, list) and result:
            result = result[0]
        if not isinstance(result, Mapping) or key not in result:
            return False
        result = result[key]
    return True


#: tomllib says in its sentences where a fault is.
_AT = re.compile(r"(?P<why>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)

#: No longer value is repeated in an error.
_SHOWN = 40


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tui(_Table):
    """``[tui]``. Whether there is such a theme is known only where the themes are.

    aliases: words behind ``:``, and what they stand for. hotkeys: the same for keys that nothing else is bound to.
    columns: of a list, those that it has, in their order. Which lists and columns there are is known only there, too.
    """

    theme: str = ""
    ascii: StrictBool = False
    mouse: StrictBool = True
    aliases: dict[str, str] = {}
    hotkeys: dict[Annotated[str, Field(pattern="^f([1-9]|1[0-2])$")], str] = {}
    columns: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] = {}


class Output(_Table):
    """``[output]``."""

    color: Literal["auto", "always", "never"] = "auto"


class CheckSettings(_Table):
    """``[check]``. Which codes there are is known only where the rules are."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: Literal["error", "warning", "note", "never"] = "error"


class File(_Table):
    """The whole file."""

    tui: Tui = Tui()
    output: Output = Output()
    check: CheckSettings = CheckSettings()


class Settings(NamedTuple):
    """What the file sets, defaults where it is silent. ``theme_place``: file and line that name the theme.

    ``columns``: a list, its columns, and file and line that name them.
    """

    color: str
    theme: str
    theme_place: str
    ascii: bool
    mouse: bool
    check: CheckSettings
    aliases: dict[str, str]
    hotkeys: dict[str, str]
    columns: tuple[tuple[str, tuple[str, ...], str], ...]


#: Section to the names of its keys.
_SECTIONS = {
    "tui": tuple(Tui.model_fields),
    "output": tuple(Output.model_fields),
    "check": tuple(CheckSettings.model_fields),
}

#: What is expected, by pydantic's code of the fault.
_EXPECTED = {
    "bool_type": "true or false",
    "string_type": "text in quotes",
    "model_type": "a section",
    "tuple_type": "a list",
    "dict_type": "a section",
    "too_short": "at least one name",
}


def parse(text: str, file: str) -> Settings:
    """Return the settings. Raises InputError: no TOML, unknown names, values that are none."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _build_toml_error(error, text, file) from error
    try:
        result = File.model_validate(document)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=True)
        raise _raise_all([_fault(fault, text, file) for fault in faults]) from error
    theme_place = f"{file}:{find_statement_line(text, ('tui', 'theme'))}" if result.tui.theme else ""
    tui = result.tui
    columns = tuple(
        (name, heads, f"{file}:{find_statement_line(text, ('tui', 'columns', name))}")
        for name, heads in tui.columns.items()
    )
    return Settings(
        result.output.color,
        tui.theme,
        theme_place,
        tui.ascii,
        tui.mouse,
        result.check,
        tui.aliases,
        tui.hotkeys,
        columns,
    )


def _build_toml_error(error: Exception, text: str, file: str) -> InputError:
    """Return where and why the text is no TOML."""
    if isinstance(error, RecursionError):
        return InputError("no TOML: nested too deep", file=file)
    match = _AT.fullmatch(str(error))
    if match is None:
        return InputError(f"no TOML: {str(error).partition(';')[0]}", file=file)
    end = text.rstrip()
    line = int(match["line"] or end.count("\n") + 1)
    column = int(match["column"] or len(end) - end.rfind("\n"))
    return InputError(f"no TOML: {match['why']}", file=file, line=line, column=column)


def _raise_all(faults: Sequence[InputError]) -> InputError:
    ordered = sorted(faults, key=lambda fault: fault.line)
    return ordered[0] if len(ordered) == 1 else InputErrors(ordered)


def _fault(fault: Any, text: str, file: str) -> InputError:
    """Return one of pydantic's faults in our words."""
    path = tuple(map(str, fault["loc"]))
    name, value = ".".join(path), fault["input"]
    if fault["type"] == "extra_forbidden":
        what = "section" if len(path) == 1 and isinstance(value, dict) else "key"
        reason = f'unknown {what} "{name}", {_suggest_name(path, section=what == "section")}'
    elif path[-1] == "[key]":
        path = path[:-1]
        reason = f"{'.'.join(path[:-1])}: a key from f1 to f12 is expected, not {_format_value(path[-1])}"
    else:
        words = re.findall(r"'(\w+)'", fault.get("ctx", {}).get("expected", ""))
        expected = f"one of {', '.join(words)}" if words else _EXPECTED.get(fault["type"], fault["msg"])
        near = _find_closest_name(value, words) if isinstance(value, str) else ""
        reason = f"{name}: {expected} is expected, not {_format_value(value)}{near and f', the nearest is {near}'}"
    return InputError(reason, file=file, line=find_statement_line(text, path))


def _suggest_name(path: Sequence[str], *, section: bool) -> str:
    """Return the nearest name that there is, wherever it belongs; all that would do here, if none is near."""
    homes = dict.fromkeys(_SECTIONS, "")
    if not section:
        homes = {key: f"{home}." for home, keys in _SECTIONS.items() for key in keys}
    near = _find_closest_name(path[-1], homes)
    if near:
        return f"the nearest is {homes[near]}{near}"
    return f"known are {', '.join(_SECTIONS[path[0]] if len(path) > 1 else _SECTIONS)}"


def _find_closest_name(name: str, names: Sequence[str] | dict[str, str]) -> str:
    return next(iter(difflib.get_close_matches(name.lower(), names, 1)), "")


def _format_value(value: object) -> str:
    if isinstance(value, dict | list):
        return "a section" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
