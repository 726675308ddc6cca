#!/usr/bin/env python3
"""The feature gates of a Kubernetes source tree beside those that the rules here know.

    (cd tests/controlplane/kubernetes && go mod download k8s.io/kubernetes k8s.io/apiserver)
    scripts/version_gates.py ~/go/pkg/mod/k8s.io/kubernetes@v1.37.2 [an older tree to compare with]

With one tree: each gate of ``GATES`` in ``kubectl_kres/admission/base/versions.py`` whose row differs from the source
(exit code 1), then the gates that no rule mentions. With two trees: what the newer one changed, and whether a rule
mentions the gate.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from kubectl_kres.admission.base.versions import GATES, Gate

#: The files with tables of gates: of Kubernetes itself, and of the API server's library beside it.
FILES = ("pkg/features/kube_features.go", "pkg/features/client_adapter.go")
LIBRARY = "pkg/features/kube_features.go"
_ENTRY = re.compile(
    r"^\t(?:genericfeatures\.|apiextensionsfeatures\.)?(\w+): \{\n(.*?)^\t\},?$", re.MULTILINE | re.DOTALL
)
_SPEC = re.compile(r'^\t\t\{Version: version\.MustParse\("1\.(\d+)"\), Default: (\w+), (.*?)\}', re.MULTILINE)
_STAGE = re.compile(r"PreRelease: featuregate\.(\w+)")


class Spec(NamedTuple):
    """The state of a gate from one minor version on."""

    minor: int
    on: bool
    stage: str
    locked: bool


def gates_of(tree: Path) -> dict[str, list[Spec]]:
    """Every gate of a source tree with its states, oldest first."""
    version = tree.name.partition("@v1.")[2]
    library = tree.parent / f"apiserver@v0.{version}" / LIBRARY
    gates: dict[str, list[Spec]] = {}
    for path in (*(tree / file for file in FILES), library):
        if not path.exists():
            continue
        for name, body in _ENTRY.findall(path.read_text()):
            specs = [
                Spec(int(minor), on == "true", _STAGE.findall(rest)[0], "LockToDefault: true" in rest)
                for minor, on, rest in _SPEC.findall(body)
            ]
            if specs:
                gates.setdefault(name, sorted(specs))
    return gates


def row_of(specs: list[Spec]) -> Gate:
    """The states as a row of the table of the rules."""
    on = next((spec.minor for spec in specs if spec.on and all(later.on for later in specs if later >= spec)), None)
    locked = next((spec.minor for spec in specs if spec.locked), None)
    return Gate(specs[0].minor, on, locked)


def shown(specs: list[Spec]) -> str:
    """The newest state in one line."""
    last = specs[-1]
    locked = ", locked" if last.locked else ""
    return f"{last.stage} {'on' if last.on else 'off'} since 1.{last.minor}{locked}"


def changed(new: dict[str, list[Spec]], old: dict[str, list[Spec]], minor: int) -> list[str]:
    """What the newer tree changed up to its minor version, a line for each gate."""
    lines = []
    for name in sorted({*new, *old}):
        rules = "  <- rules know it" if name in GATES else ""
        if name not in old:
            lines.append(f"{name}: new, {shown(new[name])}{rules}")
        elif name not in new:
            lines.append(f"{name}: removed, before {shown(old[name])}{rules}")
        elif new[name] != old[name] and new[name][-1].minor == minor:
            lines.append(f"{name}: {shown(old[name])} -> {shown(new[name])}{rules}")
    return lines


def _by(number: int | None, minor: int) -> int | None:
    """A minor version of the table, as far as the source can know of it."""
    return number if number is not None and number <= minor else None


def main(arguments: list[str]) -> int:
    if not 1 <= len(arguments) <= 2 or not all(Path(argument).is_dir() for argument in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    tree = Path(arguments[0])
    minor = int(tree.name.partition("@v1.")[2].partition(".")[0])
    gates = gates_of(tree)
    if len(arguments) == 2:
        print("\n".join(changed(gates, gates_of(Path(arguments[1])), minor)))
        return 0
    wrong = 0
    for name, known in GATES.items():
        if name not in gates:
            if known.exists <= minor and (known.removed is None or known.removed > minor):
                wrong += 1
                print(f"{name}: not in the source; the table says that it is there")
            continue
        row, then = row_of(gates[name]), tuple(_by(number, minor) for number in (known.on, known.locked, known.removed))
        if (row.on, row.locked, None) != then or row.exists != known.exists:
            wrong += 1
            print(f"{name}: source {row}, table {known}")
    print(f"{wrong} of {len(GATES)} rows differ")
    silent = sorted(set(gates) - set(GATES))
    print(f"\n{len(silent)} gates that no rule mentions:")
    print("\n".join(f"{name}: {shown(gates[name])}" for name in silent))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
