"""What is copied of a remedy, and why there may be no command to copy."""

from __future__ import annotations

from kubectl_kres.reports.common.parts import Remedy

_UNDONE = "a patch of the cluster would be undone"


def to_copy(remedy: Remedy | None) -> str:
    """Return its commands; where its owner would undo them, the fields with their values; empty: nothing."""
    if remedy is None:
        return ""
    if remedy.commands:
        return "\n".join(remedy.commands)
    fields = ((edit.field, getattr(edit, "to", None)) for edit in remedy.edits)
    return "\n".join(f"{field}: {to}" for field, to in fields if field and to is not None)


def not_copied(remedy: Remedy | None) -> str:
    """Return why Enter copies nothing of a remedy that has no command, and what does."""
    if remedy is None or not remedy.why:
        return "there is no command to copy"
    undone = f"{_UNDONE}; " if " owns " in remedy.why else ""
    return f"{remedy.why}; {undone}c copies the field and value"
