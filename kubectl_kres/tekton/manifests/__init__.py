"""What Tekton registers with the reading of manifests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubectl_kres.manifests.typed_manifest import ManifestSystem, Raw
from kubectl_kres.model.tekton_config import DEFAULTS, FLAGS, INFO
from kubectl_kres.tekton.model import GROUP


class TektonManifests(ManifestSystem):
    """v1beta1 is stored as v1, and the webhook decodes in its own way."""

    makes_pods = frozenset({"TaskRun", "PipelineRun"})
    configuration = frozenset({DEFAULTS, FLAGS, INFO})
    group = GROUP

    def to_stored_version(self, raw: Raw) -> Raw:
        from kubectl_kres.tekton.rules.base.convert import to_v1

        return to_v1(raw)

    def misnamed_fields(self, raw: Raw) -> Iterator[tuple[tuple[str | int, ...], str]]:
        from kubectl_kres.tekton.rules.validation.decoder import misnamed_fields

        yield from ((tuple(path), name) for path, name in misnamed_fields(raw))

    def empty_items(self, raw: Any) -> Any:
        from kubectl_kres.tekton.rules.validation.decoder import without_nulls

        return without_nulls(raw)

    def fault(self, raw: Raw, field: str) -> str:
        from kubectl_kres.tekton.rules.validation.decoder import fault_in

        decoder_fault = fault_in(raw)
        if decoder_fault is None:
            return ""
        path_text = "" if decoder_fault.path == field else f", of {decoder_fault.path}"
        return f"Tekton's webhook would say{path_text}: {decoder_fault.message}"


SYSTEM = TektonManifests()
