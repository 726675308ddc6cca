"""The bill of materials of a bundle, in CycloneDX 1.5; the same bundle gives the same text."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from release import names


class Part(Protocol):
    """See ``inventory.Component``."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def licence(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def purl(self) -> str: ...
    @property
    def files(self) -> tuple[Path, ...]: ...


def document(parts: Iterable[Part], version: str, epoch: int, sha256: Callable[[Path], str]) -> str:
    """The bill. ``epoch``: the time of the release, in seconds."""
    held = [_component(one, sha256) for one in parts]
    program = {
        "type": "application",
        "bom-ref": f"pkg:pypi/{names.PROGRAM}@{version}",
        "name": names.PROGRAM,
        "version": version,
        "purl": f"pkg:pypi/{names.PROGRAM}@{version}",
        "licenses": [{"expression": "Apache-2.0"}],
    }
    content = json.dumps([program, held], sort_keys=True)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, content).urn,
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": program,
        },
        "components": held,
        "dependencies": [{"ref": program["bom-ref"], "dependsOn": sorted(one["bom-ref"] for one in held)}],
    }
    return json.dumps(bill, indent=2) + "\n"


def _component(one: Part, sha256: Callable[[Path], str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": one.kind,
        "bom-ref": one.purl or f"{one.name}@{one.version}".replace(" ", "-"),
        "name": one.name,
        "licenses": [_licence(one.licence)],
    }
    if one.version:
        found["version"] = one.version
    if one.purl:
        found["purl"] = one.purl
    if one.files:
        found["components"] = [
            {"type": "file", "name": file.name, "hashes": [{"alg": "SHA-256", "content": sha256(file)}]}
            for file in one.files
        ]
    return found


def _licence(text: str) -> dict[str, Any]:
    """SPDX's words as an expression; what SPDX has no word for by its name."""
    if text in {"NOASSERTION", ""} or text.startswith("LicenseRef"):
        return {"license": {"name": text.removeprefix("LicenseRef-") or "unknown"}}
    return {"expression": text}
