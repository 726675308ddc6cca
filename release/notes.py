"""What is new in this version, out of CHANGELOG.md: ``python -m release.notes``."""

from __future__ import annotations

import re
import sys

from release import names


def notes(changelog: str, version: str) -> str:
    """The section of the version. Raises SystemExit where there is none."""
    found = re.search(rf"^## {re.escape(version)}\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise SystemExit(f"error: CHANGELOG.md says nothing about {version}")
    return found[1].strip()


if __name__ == "__main__":
    sys.stdout.write(notes((names.ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), names.version()) + "\n")
