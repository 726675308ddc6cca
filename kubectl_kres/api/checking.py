"""The findings of a namespace, and those of objects that are passed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from kubectl_kres.api.asking import AnswerScope, ask_of, asked, fill_all
from kubectl_kres.api.clusters import Cluster
from kubectl_kres.reports.check.check import check, worst_first
from kubectl_kres.reports.check.finding import CheckFinding
from kubectl_kres.reports.check.of_store import scene_needs, scenes_of
from kubectl_kres.reports.check.scene import Scene
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.pod.needs import needs
from kubectl_kres.store.store import Origin


def found_in(
    cluster: Cluster, namespace: str, kube_version: str, codes: Collection[str]
) -> tuple[list[CheckFinding], Origin]:
    """Raises what ``ask_of`` raises, and Unreachable and the like."""
    reading = cluster.reading()
    fill_all(reading, lambda: scene_needs(reading.store, namespace))
    scenes = scenes_of(reading.store, ask_of(reading.store, kube_version), namespace)
    return worst_first(check_finding for scene in scenes for check_finding in check(scene, codes)), reading.store.origin


def found_of(items: Sequence[Any], scope: AnswerScope, codes: Collection[str]) -> tuple[list[CheckFinding], Origin]:
    """Raises what ``asked`` raises."""
    prepared = asked(items, scope, needs)
    spaces: dict[str, list[Subject]] = {}
    for subject in prepared.subjects:
        spaces.setdefault(subject.ref.namespace, []).append(subject)
    scenes = (Scene(prepared.store, prepared.ask, space, subjects, of_files=True) for space, subjects in spaces.items())
    return worst_first(
        check_finding for scene in scenes for check_finding in check(scene, codes)
    ), prepared.store.origin
