"""Edits of Tekton's configuration: in its ConfigMaps, or in TektonConfig where the Tekton Operator keeps them."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.tekton_config import DEFAULTS, FLAGS, NAMESPACE
from kubectl_kres.reports.common.parts import SetConfig
from kubectl_kres.store.store import Store
from kubectl_kres.tekton.reports.config import config_map
from kubectl_kres.tekton.rules.base.config import KEY, Entries, kept_by_operator

#: The one object that the operator reads.
_CONFIG = ObjectRef("TektonConfig", "config")

#: Where TektonConfig holds the entries of config-defaults.
IN_TEKTON_CONFIG = f"spec.pipeline.options.configMaps[{DEFAULTS}].data[{KEY}]"

#: The values of an entry by side and resource.
EntryValues = Mapping[str, Mapping[str, str]]


def flag_edit(store: Store, flag: str, to: str) -> SetConfig:
    """Return the edit of one feature flag."""
    return _edit(store, FLAGS, flag, to, f"spec.pipeline.{flag}")


def entries_edit(store: Store, entries: Entries, additions: Mapping[str, EntryValues]) -> SetConfig:
    """Return the edit that gives containers entries of config-defaults. ``entries``: those that are there."""
    texts = {name: _values(entry) for name, entry in entries.items()} | dict(additions)
    return _edit(store, DEFAULTS, KEY, entries_yaml(texts), IN_TEKTON_CONFIG, additions)


def entries_yaml(entries: Mapping[str, EntryValues]) -> str:
    """Return entries as the YAML text that the key holds."""
    lines: list[str] = []
    for name, sides in entries.items():
        lines.append(f"{name}:")
        for side in ("requests", "limits"):
            if values := sides.get(side):
                lines.append(f"  {side}:")
                lines += [f"    {resource}: {_scalar(amount)}" for resource, amount in values.items()]
    return "".join(f"{line}\n" for line in lines)


def _values(entry: ResourceRequirements) -> EntryValues:
    sides = {"requests": entry.requests, "limits": entry.limits}
    return {side: {name: str(amount) for name, amount in values.items()} for side, values in sides.items() if values}


def _scalar(amount: str) -> str:
    """Return the text of a scalar; a quantity that looks like a number is quoted."""
    return f'"{amount}"' if amount.replace(".", "").isdigit() else amount


def _edit(
    store: Store, name: str, key: str, to: str, operator: str, entries: Mapping[str, EntryValues] | None = None
) -> SetConfig:
    stored = config_map(store, name)
    if stored is not None and kept_by_operator(stored.metadata):
        return SetConfig(_CONFIG, operator, key, to, entries=entries or {})
    space = (stored.metadata.namespace if stored is not None else "") or NAMESPACE
    return SetConfig(ObjectRef("ConfigMap", name, space), f"data[{key}]", key, to, entries=entries or {})
