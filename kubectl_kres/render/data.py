"""Reports as one JSON or YAML document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kubectl_kres.store.store import Origin

API_VERSION = "kres/v1alpha1"


def document(kind: str, items: Sequence[Any], origin: Origin, *, complete: bool) -> dict[str, Any]:
    """The envelope of every machine-readable answer; keys camel case, quantities canonical strings.

    ``complete`` False: something that an answer needs could not be read.
    """
    metadata = {
        "source": origin.kind,
        "name": origin.name,
        "context": origin.context,
        "serverVersion": origin.version,
        "time": origin.time,
    }
    shown = {key: value for key, value in metadata.items() if value}
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {**shown, "complete": complete},
        "items": [msgspec.to_builtins(item) for item in items],
    }


def to_json(found: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()


def to_yaml(found: Any) -> str:
    import yaml  # noqa: PLC0415 - costs 15 ms that only this format needs

    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=10_000)
