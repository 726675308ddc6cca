"""What the package index shows: addresses of the project, and a README whose links lead somewhere.

Hatchling loads this file by its path, alone, whenever the package is built or installed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<head>(?P<picture>!?)\[[^\]]*\]\()(?!https?:|#)(?P<path>[^)\s]+)\)")
_TAG = re.compile(r'(?P<head><(?:img|source)[^>]*?\b(?:src|srcset)=")(?!https?:)(?P<path>[^"]+)"')


class Metadata(MetadataHookInterface):
    """Fills in ``readme`` and ``urls``, which pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        repository, version = constants((root / "kubectl_kres" / "__init__.py").read_text(encoding="utf-8"))
        readme = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(readme, repository, version)}
        metadata["urls"] = urls(repository)


def constants(source: str) -> tuple[str, str]:
    """The address of the project, empty if it has none yet, and its version."""
    found = dict(re.findall(r'^(\w+) = "(.*)"$', source, re.MULTILINE))
    return found["REPOSITORY"], found["__version__"]


def urls(repository: str) -> dict[str, str]:
    """None while there is no address."""
    if not repository:
        return {}
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/blob/main/docs/index.md",
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }


def absolute(readme: str, repository: str, version: str) -> str:
    """The README with the addresses of its files as they are in this version; as it is while there is no address."""
    if not repository:
        return readme

    stages = {"a": "alpha", "b": "beta", "rc": "rc"}
    tag = "v" + re.sub(r"(a|b|rc)(\d+)$", lambda m: f"-{stages[m[1]]}.{m[2]}", version)

    def place(path: str, *, picture: bool) -> str:
        return f"{repository}/{'raw' if picture else 'blob'}/{tag}/{path}"

    linked = _LINK.sub(lambda m: f"{m['head']}{place(m['path'], picture=bool(m['picture']))})", readme)
    return _TAG.sub(lambda m: f'{m["head"]}{place(m["path"], picture=True)}"', linked)
