#!/usr/bin/env python3
"""Write kubectl_kres/tekton/rules/validation/go_types.json: Go's types of Tekton's objects, asked of its module.

Needs Go and the module proxy. tekton_types.go does the asking, in a module of its own in a temporary folder.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "kubectl_kres" / "tekton" / "rules" / "validation" / "go_types.json"
VERSION = "v1.15.0"


def asked(folder: Path) -> str:
    """The answer of the Go program, as JSON."""
    shutil.copy(Path(__file__).with_name("tekton_types.go"), folder / "main.go")
    _go(folder, "mod", "init", "types")
    _go(folder, "get", f"github.com/tektoncd/pipeline@{VERSION}")
    return _go(folder, "run", "-mod=mod", ".")


def written(answer: str) -> str:
    """The table, a type a line."""
    found = json.loads(answer)
    lines = ",\n".join(f"{json.dumps(name)}:{_compact(held)}" for name, held in sorted(found["types"].items()))
    return f'{{"version":"{VERSION}",\n"kinds":{_compact(found["kinds"])},\n"types":{{\n{lines}\n}}}}\n'


def main() -> int:
    """Write the file."""
    with TemporaryDirectory() as folder:
        OUT.write_text(written(asked(Path(folder))))
    return 0


def _compact(held: object) -> str:
    return json.dumps(held, separators=(",", ":"), sort_keys=True)


def _go(folder: Path, *words: str) -> str:
    done = subprocess.run(["go", *words], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
