"""Files of a volume that stand in each other's way, which the server warns of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kubectl_kres.admission.base.raw_fields import items, pointer, text
from kubectl_kres.model.raw import Raw

#: What a projected volume takes; bundles and certificates are behind gates that are off.
_SOURCES = ("secret", "configMap", "downwardAPI", "serviceAccountToken")


class File(NamedTuple):
    """Where a file comes to lie, and in a projected volume what it comes from."""

    path: str
    source: str = ""

    def __str__(self) -> str:
        return f'"{self.path}"{self.source and f" ({self.source})"}'


def overlapping_paths(volumes: Iterable[Raw]) -> Iterator[str]:
    """Source: api/pod/warnings.go warningsForOverlappingVirtualPaths; bundles and certificates are not looked at."""
    for volume in volumes:
        name = text(volume, "name")
        for key, shown, field in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
            source = pointer(volume, key)
            if source is not None:
                yield from _told(_files(source), name, f'{shown} "{text(source, field)}"')
        source = pointer(volume, "downwardAPI")
        if source is not None:
            yield from _told(_files(source), name, "DownwardAPI")
        source = pointer(volume, "projected")
        for part in items(source or {}, "sources"):
            if all(part.get(key) is None for key in _SOURCES):
                yield f'volume "{name}" (Projected) has no sources provided'
        yield from _told(
            (file for part in items(source or {}, "sources") for file in _projected(part)), name, "Projected"
        )


def _files(source: Raw, of: str = "") -> Iterator[File]:
    yield from (File(text(item, "path"), of) for item in items(source, "items"))


def _projected(part: Raw) -> Iterator[File]:
    """Of the first source that has any, as the server looks for them."""
    for key, shown in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "DownwardAPI")):
        source = pointer(part, key)
        if source is not None and isinstance(source.get("items"), list):
            yield from _files(source, shown if key == "downwardAPI" else f'{shown} "{text(source, "name")}"')
            return
    token = pointer(part, "serviceAccountToken")
    if token is not None:
        yield File(text(token, "path"), "ServiceAccountToken")


def _told(files: Iterable[File], volume: str, shown: str) -> Iterator[str]:
    seen: list[File] = []
    for file in files:
        this = file._replace(path=file.path.rstrip("/"))
        for other in seen:
            if this.path and other.path and _overlap(this, other):
                yield f'volume "{volume}" ({shown}): overlapping paths: {this} with {other}'
        seen.append(this)


def _overlap(one: File, other: File) -> bool:
    return f"{one.path}/".startswith(f"{other.path}/") or f"{other.path}/".startswith(f"{one.path}/")
