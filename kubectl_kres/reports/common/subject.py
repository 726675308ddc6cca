"""What is asked about, and for which server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.kinds import Kind
from kubectl_kres.model.meta import ObjectRef


class Ask(Struct, frozen=True):
    """The server that admission is computed for, what was supposed about it, and the moment (RFC 3339).

    ``seen``: what live pods were given when they were made is expected of the next one.
    ``read_yaml``: how text in a ConfigMap is read; raises ValueError or KresError for what is no YAML.
    """

    server: Server = Server()
    assumptions: tuple[str, ...] = ()
    now: str = ""
    read_yaml: Callable[[str], Any] = json.loads
    seen: bool = True


class Subject(Struct, frozen=True):
    """One object: in the store under ``ref``, or ``raw`` as a file would send it.

    ``locate`` gives the place of a field in the file, as ``web.yaml:14:19``. Not ``served``: the server was asked, and
    has no such kind.
    """

    ref: ObjectRef
    kind: Kind
    raw: Mapping[str, Any] | None = None
    file: str = ""
    locate: Callable[[str], str] | None = None
    served: bool = True
