"""What admission makes of pods that differ in their names alone, found once for all namespaces of a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import fields, replace

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.quota.quota_admission import QuotaRequest
from kubectl_kres.model.objects import Raw
from kubectl_kres.model.pod import Container, PodSpec

#: A pod as it is stored, pruned as shapes are, and what the quotas count of it.
Stored = tuple[Mapping[str, Any], QuotaRequest]
#: So many answers are kept: after that all are found anew, so that memory has a bound.
_KEPT = 20_000
_GROUPS = ("containers", "initContainers")
_SPEC = tuple(field.encode_name for field in fields(PodSpec) if field.encode_name not in _GROUPS)
_CONTAINER = tuple(field.encode_name for field in fields(Container) if field.encode_name not in {"name", "image"})
_ENCODE = msgspec.json.Encoder().encode


class EvaluatedPods:
    """Answers by what decides and by what of a template is looked at.

    Only of templates that the server took already: their names are valid. No name stands in an answer that admits the
    pod but those of the containers, and none in one that refuses it but the pod's, with which it begins.
    """

    def __init__(self) -> None:
        self._outcome_cache: dict[tuple[bytes, bytes], tuple[str, tuple[Stored, ...], tuple[Outcome, ...]]] = {}

    def get(self, deciding: bytes, template: Raw, pod: str) -> tuple[tuple[Stored, ...], tuple[Outcome, ...]]:
        """Return every way in which the pod is stored, and every refusal of it; both empty where it is not known."""
        namesake, stored, refused = self._outcome_cache.get((deciding, _cache_key(template)), ("", (), ()))
        return (
            tuple((_set_container_names(item, template), request) for item, request in stored),
            tuple(_told_of(pod, namesake, outcome) for outcome in refused),
        )

    def put(
        self, deciding: bytes, template: Raw, pod: str, pairs: Iterable[Stored], refused: Iterable[Outcome]
    ) -> None:
        """What was found of a template whose pod is admitted or refused, whatever the order of LimitRanges."""
        if len(self._outcome_cache) >= _KEPT:
            self._outcome_cache.clear()
        stored, outcomes = tuple(pairs), tuple(replace(outcome, draft=None) for outcome in refused)
        if bool(stored) != bool(outcomes):
            self._outcome_cache[deciding, _cache_key(template)] = pod, stored, outcomes


def _told_of(pod: str, namesake: str, outcome: Outcome) -> Outcome:
    """Return a refusal of one pod as another one is reported it."""
    refusal = outcome.refusal
    if refusal is None:
        return outcome
    message = refusal.message.replace(f'"{namesake}"', f'"{pod}"', 1)
    return replace(outcome, refusal=replace(refusal, message=message))


def _cache_key(template: Raw) -> bytes:
    spec = template.get("spec") or {}
    looked_at = [[spec.get(field) for field in _SPEC]]
    looked_at += [[[item.get(field) for field in _CONTAINER] for item in spec.get(group) or ()] for group in _GROUPS]
    return _ENCODE(looked_at)


def _set_container_names(stored: Mapping[str, Any], template: Raw) -> Mapping[str, Any]:
    """With the names of this template's containers."""
    spec = template.get("spec") or {}
    return {
        **stored,
        **{
            group: [
                {**item, "name": container.get("name")}
                for item, container in zip(stored[group], spec[group], strict=True)
            ]
            for group in _GROUPS
            if group in stored
        },
    }
