"""Who last changed which fields, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubectl_kres.render.text.system import systems
from kubectl_kres.reports.common.explanation import LastEdit


def edited(edits: Mapping[str, LastEdit]) -> Iterator[str]:
    """``spec.hard[pods], spec.hard[cpu] by flux (Apply) at …``: the fields that one edit wrote, together."""
    groups: dict[LastEdit, list[str]] = {}
    for field, edit in edits.items():
        groups.setdefault(edit, []).append(field)
    for edit, fields in groups.items():
        how = f" ({edit.operation})" if edit.operation else ""
        notes = "".join(f", {note}" for system in systems() if (note := system.edit_note(edit.manager)))
        yield f"{', '.join(fields)} by {edit.manager}{how}{f' at {edit.time}' if edit.time else ''}{notes}"
