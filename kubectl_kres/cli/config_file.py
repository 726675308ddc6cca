"""What may stand in the user's file of settings, and each fault in it as a line."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, StrictBool, ValidationError

from kubectl_kres.cli.tomlplace import Path, line_of
from kubectl_kres.errors import InputError, InputErrors

#: tomllib says in its sentences where a fault is.
_AT = re.compile(r"(?P<why>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)

#: No longer value is repeated in an error.
_SHOWN = 40


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tui(_Section):
    """``[tui]``. Whether there is such a theme is known only where the themes are."""

    theme: str = ""
    ascii: StrictBool = False
    mouse: StrictBool = True


class Output(_Section):
    """``[output]``."""

    color: Literal["auto", "always", "never"] = "auto"


class File(_Section):
    """The whole file."""

    tui: Tui = Tui()
    output: Output = Output()


class Settings(NamedTuple):
    """What the file sets, defaults where it is silent. ``theme_place``: file and line that name the theme."""

    color: str
    theme: str
    theme_place: str
    ascii: bool
    mouse: bool


#: Last name of each key to the section that it belongs in; of a section, empty.
_HOMES = {key: section for section, field in File.model_fields.items() for key in field.default.model_fields_set} | {
    name: "" for name in File.model_fields
}


def parse(text: str, file: str) -> Settings:
    """The settings. Raises InputError: no TOML, unknown names, values that are none."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _malformed(error, text, file) from error
    try:
        found = File.model_validate(document)
    except ValidationError as error:
        raise _faults(error, text, file) from error
    place = f"{file}:{line_of(text, ('tui', 'theme'))}" if found.tui.theme else ""
    return Settings(found.output.color, found.tui.theme, place, found.tui.ascii, found.tui.mouse)
