"""Which pods and claims a scoped quota counts."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_kres.admission.quota.usage import matches_claim, matches_pod, requirements
from kubectl_kres.model.objects import ResourceQuotaSpec, ScopedRequirement
from kubectl_kres.model.pod import PodSpec
from kubectl_kres.model.quota_objects import PersistentVolumeClaim


def scope(name: str, operator: str = "Exists", *values: str) -> ScopedRequirement:
    return ScopedRequirement(name, operator, values or None)


def affinity(**term: object) -> dict:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def preferred(**term: object) -> dict:
    terms = [{"podAffinityTerm": term}]
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


@pytest.mark.parametrize(
    ("requirement", "spec", "qos", "matches"),
    [
        (scope("Terminating"), {}, "", False),
        (scope("Terminating"), {"activeDeadlineSeconds": 0}, "", True),
        (scope("Terminating"), {"activeDeadlineSeconds": -1}, "", False),
        (scope("NotTerminating"), {}, "", True),
        (scope("NotTerminating"), {"activeDeadlineSeconds": 60}, "", False),
        (scope("BestEffort"), {}, "BestEffort", True),
        (scope("BestEffort"), {}, "Burstable", False),
        (scope("NotBestEffort"), {}, "Guaranteed", True),
        (scope("NotBestEffort"), {}, "BestEffort", False),
        (scope("PriorityClass"), {}, "", False),
        (scope("PriorityClass"), {"priorityClassName": "high"}, "", True),
        (scope("PriorityClass", "DoesNotExist"), {}, "", True),
        (scope("PriorityClass", "DoesNotExist"), {"priorityClassName": "high"}, "", False),
        (scope("PriorityClass", "In", "high", "low"), {"priorityClassName": "low"}, "", True),
        (scope("PriorityClass", "In", "high"), {}, "", False),
        (scope("PriorityClass", "NotIn", "high"), {"priorityClassName": "high"}, "", False),
        (scope("PriorityClass", "NotIn", "high"), {"priorityClassName": "low"}, "", True),
        (scope("PriorityClass", "NotIn", "high"), {}, "", True),
        (scope("PriorityClass", "Near", "high"), {"priorityClassName": "high"}, "", False),
        (scope("CrossNamespacePodAffinity"), {}, "", False),
        (scope("CrossNamespacePodAffinity"), {"affinity": {}}, "", False),
        (scope("CrossNamespacePodAffinity"), {"affinity": affinity()}, "", False),
        (scope("CrossNamespacePodAffinity"), {"affinity": affinity(namespaces=[])}, "", False),
        (scope("CrossNamespacePodAffinity"), {"affinity": affinity(namespaces=["other"])}, "", True),
        (scope("CrossNamespacePodAffinity"), {"affinity": affinity(namespaceSelector={})}, "", True),
        (scope("CrossNamespacePodAffinity"), {"affinity": preferred(namespaces=["other"])}, "", True),
        (scope("VolumeAttributesClass"), {}, "", False),
        (scope("Unheard"), {}, "", False),
    ],
)
def test_pods(requirement, spec, qos, matches):
    found = msgspec.convert(spec, PodSpec)
    assert matches_pod(requirement, found, found.priority_class_name, qos) is matches


@pytest.mark.parametrize(
    ("requirement", "claim", "matches"),
    [
        (scope("Terminating"), {}, False),
        (scope("VolumeAttributesClass"), {}, False),
        (scope("VolumeAttributesClass"), {"spec": {"volumeAttributesClassName": "gold"}}, True),
        (scope("VolumeAttributesClass"), {"status": {"currentVolumeAttributesClassName": "gold"}}, True),
        (
            scope("VolumeAttributesClass", "In", "gold"),
            {
                "spec": {"volumeAttributesClassName": "silver"},
                "status": {"modifyVolumeStatus": {"targetVolumeAttributesClassName": "gold"}},
            },
            True,
        ),
        (scope("VolumeAttributesClass", "DoesNotExist"), {}, True),
        (scope("VolumeAttributesClass", "NotIn", "gold"), {"spec": {"volumeAttributesClassName": "gold"}}, False),
    ],
)
def test_claims(requirement, claim, matches):
    assert matches_claim(requirement, msgspec.convert(claim, PersistentVolumeClaim)) is matches


def test_scopes_come_before_the_selector():
    spec = msgspec.convert(
        {
            "scopes": ["BestEffort"],
            "scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}]},
        },
        ResourceQuotaSpec,
    )
    assert requirements(spec) == (scope("BestEffort"), scope("PriorityClass", "In", "a"))
    assert requirements(ResourceQuotaSpec()) == ()
