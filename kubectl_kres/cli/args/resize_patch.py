"""The argument of ``--resize``: a patch as JSON or YAML, written on the command line or in a file."""

from __future__ import annotations

import io
import sys
from typing import Any

from kubectl_kres.errors import UsageError
from kubectl_kres.manifests import files, yaml_text

_INLINE = "--resize"


def read_patch(argument: str) -> Any:
    """The value of the patch. ``@FILE`` names a file, ``-`` and ``@-`` standard input.

    Raises InputError for a file that cannot be read and for bad syntax, UsageError for anything but one document.
    """
    file = argument.removeprefix("@") if argument.startswith("@") else "-" if argument == "-" else ""
    if not file:
        shown, text = _INLINE, argument
    else:
        stdin = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
        shown, text = files.STDIN if file == "-" else file, files.text(file, stdin)
    documents = [*yaml_text.split(shown, text)]
    if len(documents) != 1:
        raise UsageError(f"--resize: one patch is expected, not {len(documents)} documents")
    return yaml_text.parse(documents[0])
