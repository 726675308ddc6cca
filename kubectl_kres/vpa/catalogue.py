"""The catalogue of rules of the vertical autoscaler, by their codes."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.provenance.catalogued_rule import SUPPOSED, CataloguedRule

_PROVIDER = "vpa pkg/admission-controller/resource/pod/recommendation/recommendation_provider.go"
_UPDATES = "vpa pkg/admission-controller/resource/pod/patch/resource_updates.go"
_CAPPING = "vpa pkg/utils/vpa/capping.go"
_REGISTERED = "vpa pkg/admission-controller/config.go"

RULES: Mapping[str, CataloguedRule] = {
    "vpa/target": CataloguedRule(
        "The vertical autoscaler writes its recommendation into the requests of new pods.", _PROVIDER, refuses=False
    ),
    "vpa/limit-ratio": CataloguedRule(
        "It sets limits, too: each is to its request as the pod's own limit was to the pod's own request.",
        "vpa pkg/utils/vpa/limit_and_request_scaling.go",
        refuses=False,
    ),
    "vpa/min-allowed": CataloguedRule(
        "No recommendation is below minAllowed of the container's policy.", _CAPPING, refuses=False
    ),
    "vpa/max-allowed": CataloguedRule(
        "No recommendation is above maxAllowed of the container's policy.", _CAPPING, refuses=False
    ),
    "vpa/container-limit": CataloguedRule(
        "With controlledValues RequestsOnly no recommendation is above the container's limit.", _CAPPING, refuses=False
    ),
    "vpa/limit-range-max": CataloguedRule(
        "A recommendation is cut so that the limit in proportion keeps within the LimitRanges for containers.",
        _CAPPING,
        refuses=False,
    ),
    "vpa/limit-range-min": CataloguedRule(
        "A recommendation is raised to the least that LimitRanges for containers allow.", _CAPPING, refuses=False
    ),
    "vpa/pod-limit-range-max": CataloguedRule(
        "Recommendations of all containers are cut in proportion to the LimitRanges for pods.", _CAPPING, refuses=False
    ),
    "vpa/pod-limit-range-min": CataloguedRule(
        "Recommendations of all containers are raised in proportion to the LimitRanges for pods.",
        _CAPPING,
        refuses=False,
    ),
    "vpa/startup-boost": CataloguedRule(
        "A container that starts gets more cpu than is recommended.", _UPDATES, "CPUStartupBoost", refuses=False
    ),
    "vpa/fault": CataloguedRule(
        "Where its admission controller fails, the pod stays as it is, or is refused where the webhook must answer.",
        _CAPPING,
        by_hand="recommend bounds for each container, or take out the LimitRange of type Pod",
    ),
    "vpa/not-registered": CataloguedRule(
        "Without its webhook, or in a namespace that this leaves out, nothing is written into pods.",
        _REGISTERED,
        refuses=False,
    ),
    "vpa/registered": CataloguedRule(
        "Where webhooks could not be read, its own is taken as registered.", SUPPOSED, refuses=False
    ),
    "vpa/fails-open": CataloguedRule(
        "While its webhook does not answer, pods come without the recommendation.", _REGISTERED, refuses=False
    ),
    "vpa/fails-closed": CataloguedRule(
        "While its webhook does not answer, no pod is created.", _REGISTERED, refuses=False
    ),
    "vpa/no-recommendation": CataloguedRule(
        "Without a recommendation nothing is written into pods.", _PROVIDER, refuses=False
    ),
}
