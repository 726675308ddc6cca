#!/usr/bin/env python3
"""Write docs/versions.md: what each Kubernetes version changed.  Run it when ``admission/base/versions.py``, a
function of CEL or a check of Pod Security changed.  With two versions it prints what lies between them:

    scripts/versions_doc.py 1.36 1.37
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "versions.md"

HEAD = """\
# Kubernetes versions

**What did each version of Kubernetes change in the answers?**

The newest stands first. A feature gate stands where its state changes: it exists, is on by default, can no longer be
switched off, or is removed. `releasing.md` says how a version is added.

This page is made by `scripts/versions_doc.py` from `kubectl_kres/admission/base/versions.py`, the functions of CEL and
the checks of Pod Security. `scripts/versions_doc.py 1.36 1.37` prints what lies between two versions.
"""


def lines_of(minor: int) -> Iterator[str]:
    """What the version changed, a line of a list each."""
    from kubectl_kres.admission.base.versions import CHANGES, GATES  # noqa: PLC0415 - the path is set by main
    from kubectl_kres.policies.cel.evaluation.environment import functions_of  # noqa: PLC0415 - the path is set by main
    from kubectl_kres.policies.reports.needs import POLICIES  # noqa: PLC0415 - the path is set by main
    from kubectl_kres.policies.rules.pod_security import CHECKS  # noqa: PLC0415 - the path is set by main

    for change in CHANGES.values():
        if change.minor == minor:
            gate = f" Gate: `{change.gate}`." if change.gate else ""
            yield f"{change.area}: {change.text}. Source: {change.source}.{gate}"
    for kind, since in POLICIES.items():
        if since == minor:
            yield f"kind: {kind} is served as v1"
    for name, gate in GATES.items():
        states = (("exists", gate.exists), ("is on", gate.on), ("is locked", gate.locked), ("is removed", gate.removed))
        said = " and ".join(text for text, number in states if number == minor)
        yield from [f"gate: `{name}` {said}"] * bool(said)
    tables = functions_of((1, minor), patch=True)
    functions = sorted({name for name, overloads in tables.items() for one in overloads if one.since == minor})
    if functions:
        yield f"functions of CEL: {', '.join(f'`{name}`' for name in functions)}"
    for check in CHECKS:
        if any(since == minor for since, _ in check.versions):
            yield f"Pod Security: {check.name} has another form"


def page() -> str:
    """The whole page."""
    from kubectl_kres.admission.base.versions import NEWEST, OLDEST  # noqa: PLC0415 - the path is set by main

    parts = [HEAD]
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        listed = "\n".join(f"- {line}" for line in lines_of(minor)) or "Nothing that is computed here."
        parts.append(f"## 1.{minor}\n\n{listed}\n")
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT))
    if len(arguments) == 2:
        first, last = (int(argument.removeprefix("v").partition(".")[2]) for argument in arguments)
        for minor in range(first + 1, last + 1):
            for line in lines_of(minor):
                print(f"1.{minor}  {line}")
        return 0
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
