"""The vertical pod autoscaler as stored: autoscaling.k8s.io/v1.

Source: vertical-pod-autoscaler 1.8.1 pkg/apis/autoscaling.k8s.io/v1/types.go.
"""

from typing import Any

from kubectl_kres.model.objects import Base, Condition, Kind, LabelSelector, ManagedMetadata, Metadata, ResourceList

GROUP = "autoscaling.k8s.io"
KIND = "VerticalPodAutoscaler"
#: The name that its admission controller, and its chart, give the webhook, and the configuration that holds it.
WEBHOOK = "vpa.k8s.io"
CONFIGURATION = "vpa-webhook-config"
BUDGET = "PodDisruptionBudget"
HOOKS = "MutatingWebhookConfiguration"


class TargetRef(Base, frozen=True):
    """The controller whose pods are scaled; it is in the namespace of the autoscaler."""

    kind: str = ""
    name: str = ""
    api_version: str = ""

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class CpuBoost(Base, frozen=True):
    """How much more cpu a container gets while it starts. ``type``: Factor or Quantity."""

    type: str = ""
    factor: int | None = None
    quantity: Any = None
    duration_seconds: int | None = None


class StartupBoost(Base, frozen=True):
    """What a container gets beside its recommendation while it starts."""

    cpu: CpuBoost | None = None


class EvictionRequirement(Base, frozen=True):
    """A direction in which one of some resources has to change for a pod to be evicted."""

    resources: tuple[str, ...] | None = None
    change_requirement: str = ""


class UpdatePolicy(Base, frozen=True):
    """When recommendations reach pods. An empty ``update_mode`` is Recreate."""

    update_mode: str = ""
    min_replicas: int | None = None
    eviction_requirements: tuple[EvictionRequirement, ...] | None = None


class ContainerPolicy(Base, frozen=True):
    """What an autoscaler may do to one container, or to all others where the name is ``*``."""

    container_name: str = ""
    mode: str = ""
    min_allowed: ResourceList | None = None
    max_allowed: ResourceList | None = None
    controlled_resources: tuple[str, ...] | None = None
    controlled_values: str = ""
    startup_boost: StartupBoost | None = None


class VpaResourcePolicy(Base, frozen=True):
    """The policies for containers, in order."""

    container_policies: tuple[ContainerPolicy, ...] | None = None


class VpaSpec(Base, frozen=True):
    """Whose pods are scaled, and how."""

    target_ref: TargetRef | None = None
    update_policy: UpdatePolicy | None = None
    resource_policy: VpaResourcePolicy | None = None
    startup_boost: StartupBoost | None = None


class ContainerRecommendation(Base, frozen=True):
    """What the recommender thinks that a container needs. None: the field is not there."""

    container_name: str = ""
    target: ResourceList | None = None
    lower_bound: ResourceList | None = None
    upper_bound: ResourceList | None = None
    uncapped_target: ResourceList | None = None


class Recommendation(Base, frozen=True):
    """The recommendations for containers, in order."""

    container_recommendations: tuple[ContainerRecommendation, ...] | None = None


class VpaStatus(Base, frozen=True):
    """What the recommender wrote. No ``recommendation``: there is none yet."""

    recommendation: Recommendation | None = None
    conditions: tuple[Condition, ...] | None = None


class VerticalPodAutoscaler(Base, frozen=True):
    """An autoscaler of requests and limits."""

    metadata: ManagedMetadata = ManagedMetadata()
    spec: VpaSpec = VpaSpec()
    status: VpaStatus = VpaStatus()
    kind: str = KIND
    api_version: str = f"{GROUP}/v1"


class DisruptionSpec(Base, frozen=True):
    """How many of the selected pods have to run; amounts are numbers or percentages."""

    min_available: Any = None
    max_unavailable: Any = None
    selector: LabelSelector | None = None


class DisruptionStatus(Base, frozen=True):
    """What the disruption controller counted. ``expected_pods`` 0: it has not yet."""

    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0


class PodDisruptionBudget(Base, frozen=True):
    """A bound of evictions, which the updater meets as everybody does."""

    metadata: Metadata = Metadata()
    spec: DisruptionSpec = DisruptionSpec()
    status: DisruptionStatus = DisruptionStatus()
    kind: str = BUDGET
    api_version: str = "policy/v1"


def mode_of(vpa: VerticalPodAutoscaler) -> str:
    """Return the update mode, which is Recreate unless said. Source: pkg/utils/vpa/api.go GetUpdateMode."""
    policy = vpa.spec.update_policy
    return (policy.update_mode if policy is not None else "") or "Recreate"


def has_boost(vpa: VerticalPodAutoscaler) -> bool:
    """Return whether it gives more cpu to containers that start. Source: pkg/utils/vpa/api.go HasStartupBoost."""
    policy = vpa.spec.resource_policy
    policies = (policy.container_policies if policy is not None else None) or ()
    return vpa.spec.startup_boost is not None or any(
        container_policy.startup_boost is not None for container_policy in policies
    )


KINDS = (
    Kind(
        KIND,
        ("verticalpodautoscalers", "verticalpodautoscaler", "vpa"),
        GROUP,
        struct=VerticalPodAutoscaler,
    ),
    Kind(
        BUDGET,
        ("poddisruptionbudgets", "poddisruptionbudget", "pdb"),
        "policy",
        struct=PodDisruptionBudget,
        listed=False,
    ),
)
