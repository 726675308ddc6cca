"""Scenes out of the YAML that rules carry as examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from reports.stored import store_of

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.workload_kinds import WORKLOADS
from kubectl_kres.reports.check.check import BY_CODE, check
from kubectl_kres.reports.check.context import CheckContext
from kubectl_kres.reports.check.finding import CheckFinding
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.store.store import Store

ASK = EvaluationOptions(read_yaml=yaml.safe_load)
_RUNS = ("TaskRun",)


def store_of_yaml(text: str) -> Store:
    """All objects of a YAML text, of a cluster of which everything was read."""
    return store_of(*(one for one in yaml.safe_load_all(text) if one))


def check_contexts(store: Store, ask: EvaluationOptions = ASK) -> Iterator[CheckContext]:
    """Each namespace, and what is beside namespaces."""
    spaces = sorted({one.metadata.namespace for kind in store.kinds() for one in store.all(kind)} - {""})
    for space in spaces:
        kinds = (*(kind for kind in WORKLOADS if kind not in {"ReplicaSet", "PodTemplate"}), *_RUNS)
        refs = [ObjectRef(kind, one.metadata.name, space) for kind in kinds for one in store.all(kind, space)]
        yield CheckContext(store, ask, space, [Subject(ref, BY_KIND[ref.kind]) for ref in refs])
    yield CheckContext(store, ask)


def diagnostics(text: str, *codes: str) -> list[CheckFinding]:
    """The findings of rules of these codes (none: of all) in a cluster of these objects."""
    wanted = frozenset(codes or BY_CODE)
    return [one for scene in check_contexts(store_of_yaml(text)) for one in check(scene, wanted)]


def of_objects(objects: list[dict[str, Any]]) -> list[CheckFinding]:
    """All findings in a cluster of these objects."""
    return [one for scene in check_contexts(store_of(*objects)) for one in check(scene, frozenset(BY_CODE))]


def example(code: str, kind: str) -> str:
    """The YAML of objects that break a rule (``failing``), or of a near miss (``passing``)."""
    return (Path(__file__).parent / "examples" / f"{code}.{kind}.yaml").read_text(encoding="utf-8")
