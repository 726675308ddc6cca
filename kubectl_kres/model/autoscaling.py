"""HorizontalPodAutoscaler: who else sets the replicas of a workload, and up to how many."""

from __future__ import annotations

from kubectl_kres.model.meta import Base, Metadata


class ScaleTarget(Base, frozen=True):
    """The object whose replicas are set; it is in the namespace of the autoscaler."""

    kind: str = ""
    name: str = ""
    api_version: str = ""


class AutoscalerSpec(Base, frozen=True):
    """``max_replicas`` 0: none was read; the server demands at least 1. ``min_replicas`` absent: 1."""

    scale_target_ref: ScaleTarget = ScaleTarget()
    min_replicas: int | None = None
    max_replicas: int = 0


class HorizontalPodAutoscaler(Base, frozen=True):
    """An autoscaler; what it measures plays no part here."""

    metadata: Metadata = Metadata()
    spec: AutoscalerSpec = AutoscalerSpec()
    kind: str = "HorizontalPodAutoscaler"
    api_version: str = "autoscaling/v2"
