"""The user's settings: where the file is, and how flags and the environment take precedence over it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from kubectl_kres.cli.args.options import Options
from kubectl_kres.errors import InputError

#: The file below the folder for configuration.
NAME = Path("kubectl-kres", "config.toml")

#: No file of settings is longer; whatever is, is something else.
_LARGEST = 1 << 16


def location(environ: Mapping[str, str], *, windows: bool) -> Path | None:
    """Return the file, whether it is there or not; None if the environment does not say where that would be.

    A relative XDG_CONFIG_HOME does not count. Source: XDG Base Directory Specification 0.8.
    """
    configured = Path(environ.get("XDG_CONFIG_HOME", ""))
    if configured.is_absolute():
        return configured / NAME
    if windows:
        return Path(environ["APPDATA"]) / NAME if environ.get("APPDATA") else None
    home = Path(os.path.expanduser("~"))  # noqa: PTH111, Path.home() raises where there is none
    return home / ".config" / NAME if home.is_absolute() else None


def apply_settings(options: Options, configured: Collection[str]) -> Options:
    """Return the options with what the file sets. ``configured``: the fields that flags have set, which stay.

    Raises InputError if the file is there and cannot be read, or is wrong.
    """
    path = location(os.environ, windows=os.name == "nt")
    text = None if path is None else _read(path)
    if not text:
        return options
    from kubectl_kres.cli.config_file import parse  # tomllib and pydantic are for those who have a file

    settings = parse(text, str(path))
    values: dict[str, Any] = {}
    # A theme on the command line asks for colours. NO_COLOR is heeded where "auto" is worked out.
    if not {"color", "theme"} & set(configured) and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb":
        values["color"] = settings.color
    if settings.theme and "theme" not in configured:
        values.update(theme=settings.theme, theme_place=settings.theme_place)
    if "ascii" not in configured:
        values["ascii"] = settings.ascii
    if "no_mouse" not in configured:
        values["no_mouse"] = not settings.mouse
    values.update(aliases=tuple(settings.aliases.items()), hotkeys=tuple(settings.hotkeys.items()))
    values["columns"] = settings.columns
    for field in ("select", "ignore", "fail_on"):
        if field not in configured:
            values[field] = getattr(settings.check, field)
    return options._replace(**values)


def _read(path: Path) -> str | None:
    """Return the text; None if there is no file, or none that can be seen: HOME may be somebody else's, as in
    containers.
    """
    try:
        if path.is_fifo():
            raise InputError("a pipe, not a file", file=str(path))
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if isinstance(error, PermissionError) and not os.path.exists(path):  # noqa: PTH110, Path.exists() raises it again
            return None
        raise InputError((error.strerror or str(error)).lower(), file=str(path)) from error
    if len(data) > _LARGEST:
        raise InputError(f"over {_LARGEST >> 10} KiB: too long for a file of settings", file=str(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise InputError("not UTF-8 text", file=str(path), line=line, column=column) from error
