"""The struct of a rule in the catalogue, and the rules of the vertical autoscaler."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class CataloguedRule(Struct, frozen=True):
    """What a rule does, in one sentence, and where the real system does it. ``gate``: it needs this feature gate."""

    title: str
    source: str
    gate: str = ""


_VPA_PROVIDER = "vpa pkg/admission-controller/resource/pod/recommendation/recommendation_provider.go"
_VPA_UPDATES = "vpa pkg/admission-controller/resource/pod/patch/resource_updates.go"
_VPA_CAPPING = "vpa pkg/utils/vpa/capping.go"
_SUPPOSED = "assumed, and named in the answer"
_VPA_REGISTERED = "vpa pkg/admission-controller/config.go"

VPA_RULES: Mapping[str, CataloguedRule] = {
    "vpa/target": CataloguedRule(
        "The vertical autoscaler writes its recommendation into the requests of new pods.", _VPA_PROVIDER
    ),
    "vpa/limit-ratio": CataloguedRule(
        "It sets limits, too: each is to its request as the pod's own limit was to the pod's own request.",
        "vpa pkg/utils/vpa/limit_and_request_scaling.go",
    ),
    "vpa/min-allowed": CataloguedRule("No recommendation is below minAllowed of the container's policy.", _VPA_CAPPING),
    "vpa/max-allowed": CataloguedRule("No recommendation is above maxAllowed of the container's policy.", _VPA_CAPPING),
    "vpa/container-limit": CataloguedRule(
        "With controlledValues RequestsOnly no recommendation is above the container's limit.", _VPA_CAPPING
    ),
    "vpa/limit-range-max": CataloguedRule(
        "A recommendation is cut so that the limit in proportion keeps within the LimitRanges for containers.",
        _VPA_CAPPING,
    ),
    "vpa/limit-range-min": CataloguedRule(
        "A recommendation is raised to the least that LimitRanges for containers allow.", _VPA_CAPPING
    ),
    "vpa/pod-limit-range-max": CataloguedRule(
        "Recommendations of all containers are cut in proportion to the LimitRanges for pods.", _VPA_CAPPING
    ),
    "vpa/pod-limit-range-min": CataloguedRule(
        "Recommendations of all containers are raised in proportion to the LimitRanges for pods.", _VPA_CAPPING
    ),
    "vpa/startup-boost": CataloguedRule(
        "A container that starts gets more cpu than is recommended.", _VPA_UPDATES, "CPUStartupBoost"
    ),
    "vpa/fault": CataloguedRule(
        "Where its admission controller fails, the pod stays as it is, or is refused where the webhook must answer.",
        _VPA_CAPPING,
    ),
    "vpa/not-registered": CataloguedRule(
        "Without its webhook, or in a namespace that this leaves out, nothing is written into pods.",
        _VPA_REGISTERED,
    ),
    "vpa/registered": CataloguedRule("Where webhooks could not be read, its own is taken as registered.", _SUPPOSED),
    "vpa/fails-open": CataloguedRule(
        "While its webhook does not answer, pods come without the recommendation.",
        _VPA_REGISTERED,
    ),
    "vpa/fails-closed": CataloguedRule("While its webhook does not answer, no pod is created.", _VPA_REGISTERED),
    "vpa/no-recommendation": CataloguedRule("Without a recommendation nothing is written into pods.", _VPA_PROVIDER),
}
