"""A table as CSV, or the screen as SVG, in a file that does not exist yet."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from textual.app import App

from kubectl_kres.tui.table.row_table import Table
from kubectl_kres.tui.table.strips import safe_text

#: The terminal's own fonts are used: nothing is fetched when the picture is looked at.
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)

#: Characters of a screen's name that go into that of a file.
_LONGEST = 80


def svg(app: App[None], title: str) -> str:
    """Return the screen as a picture that stands alone."""
    picture = app.export_screenshot(title=title)
    # Some viewers drop blanks at the ends of texts, which is where columns get their places from.
    picture = picture.replace("<svg ", '<svg xml:space="preserve" ', 1)
    return _FONT_FACE.sub("", picture).replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")


def name(crumb: str, *, table: bool) -> str:
    """Return a file's name for a screen, of which nothing has to be quoted in a shell."""
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", crumb).strip("-.")[:_LONGEST]
    return f"kres-{plain}.{'csv' if table else 'svg'}"


def screen(app: App[None], table: str | None, path: str) -> str:
    """Saves the table, or for .svg and where there is none the picture; empty, or why that could not be done."""
    if table is None and path.endswith(".csv"):
        return "there is no table on this screen: .svg saves a picture of it"
    return write(path, svg(app, "kres") if table is None else table)


def write(path: str, text: str) -> str:
    """Write a new file; empty, or why it could not be written."""
    try:
        with Path(path).expanduser().open("x", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
    except FileExistsError:
        return f"{path} exists already: say another name"
    except (OSError, ValueError) as error:
        return f"{path}: {getattr(error, 'strerror', None) or error}".lower()
    return ""


def as_csv(table: Table) -> str:
    """Return what a table shows, as CSV."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([column.head for column in table.visible_columns])
    for row in filter(None, map(table.view.rows.get, table.view.keys)):
        writer.writerow([safe_text(column.text(row)) for column in table.visible_columns])
    return out.getvalue()
