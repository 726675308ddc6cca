"""``python -m kubectl_kres.cli.gate [check] [FLAGS] FILE...``: for hooks that append files.

Without ``check`` it is explain with ``--exit-code``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kubectl_kres.cli.main import entry

_MANIFESTS = (".yaml", ".yml", ".json")


def words_of(arguments: Sequence[str]) -> list[str]:
    """Return the words of the command: each manifest at the end becomes ``-f FILE``."""
    command = ["explain", "--exit-code"]
    if arguments[:1] == ["check"]:
        command, arguments = ["check"], arguments[1:]
    count = 0
    while count < len(arguments) and arguments[-1 - count].endswith(_MANIFESTS):
        count += 1
    flags, files = arguments[: len(arguments) - count], arguments[len(arguments) - count :]
    named = [word for file in files for word in ("-f", file)]
    return [*command, "--color", "never", *flags, *named]


if __name__ == "__main__":
    sys.argv = ["kubectl-kres", *words_of(sys.argv[1:])]
    sys.exit(entry())
