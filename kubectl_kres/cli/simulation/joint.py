"""The objects that ``-f`` names as one change, for commands that judge them together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_kres.cli.simulation.steps import FIRST, ordered
from kubectl_kres.cli.source.object_source import Input
from kubectl_kres.manifests.typed import kind_of
from kubectl_kres.reports.changes.together import Files, steps_of


def files_of(given: Input) -> Files:
    """The objects that a simulation knows, in the order of kinds; one that has no name is left out."""
    return steps_of(_objects(given))


def _objects(given: Input) -> Iterator[tuple[Any, str, str]]:
    for manifest in ordered(given.manifests):
        if kind_of(manifest) is not None and manifest.kind in FIRST and manifest.metadata.get("name"):
            line, _ = manifest.position()
            yield manifest.raw, manifest.namespace or given.namespace, f"{manifest.file}:{line}"
