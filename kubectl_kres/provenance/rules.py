"""The catalogue of rules. Codes are stable across releases: runbooks grep for them. docs/rules.md is made from it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Rule(Struct, frozen=True):
    """What a rule does, in one sentence, and where the real system does it. ``gate``: it needs this feature gate."""

    title: str
    source: str
    gate: str = ""


_VALIDATION = "pkg/apis/core/validation/validation.go"
_DEFAULTS = "pkg/apis/core/v1/defaults.go"
_LIMIT_RANGER = "plugin/pkg/admission/limitranger/admission.go"
_QUOTA = "apiserver/pkg/admission/plugin/resourcequota/controller.go"
_PODS = "pkg/quota/v1/evaluator/core/pods.go"
_HELPERS = "component-helpers/resource/helpers.go"
_LEVEL = "PodLevelResources"
_RESIZE = "pkg/registry/core/pod/strategy.go"
_POD_RESIZE = "plugin/pkg/admission/podresize"
_CGROUP = "pkg/kubelet/cm/helpers_linux.go"
_RUNTIME = "pkg/kubelet/kuberuntime/kuberuntime_container_linux.go"
_IN_PLACE = "InPlacePodVerticalScaling"

RULES: Mapping[str, Rule] = {
    "manifest/written": Rule("The value was written in the manifest or template.", "the object itself"),
    "quantity/canonical": Rule(
        "The server stores a quantity in its canonical notation, rounded up to thousandths.", _DEFAULTS
    ),
    "quantity/unparsable": Rule("A text that is no quantity ends the request with 400.", "apimachinery quantity.go"),
    "defaulting/request-from-limit": Rule("A container's limit without a request becomes the request, too.", _DEFAULTS),
    "pod-level/request-from-containers": Rule(
        "With pod-level limits, a missing pod-level request is the sum of the containers' requests.", _DEFAULTS, _LEVEL
    ),
    "pod-level/request-from-limit": Rule(
        "A pod-level limit without any request becomes the request.", _DEFAULTS, _LEVEL
    ),
    "pod-level/hugepages-limit": Rule(
        "A pod-level stanza takes the huge page limits of the containers.", _DEFAULTS, _LEVEL
    ),
    "pod-level/dropped": Rule(
        "With the feature gate PodLevelResources off, spec.resources is dropped without a word.", "pkg/api/pod/util.go"
    ),
    "limitrange/default": Rule("A LimitRange fills a limit that is missing.", _LIMIT_RANGER),
    "limitrange/default-request": Rule("A LimitRange fills a request that is missing.", _LIMIT_RANGER),
    "limitrange/default-from-max": Rule("In a LimitRange, max without default becomes the default limit.", _DEFAULTS),
    "limitrange/default-request-from-default": Rule(
        "In a LimitRange, default without defaultRequest becomes the default request.", _DEFAULTS
    ),
    "limitrange/default-request-from-min": Rule(
        "In a LimitRange, min without defaultRequest becomes the default request.", _DEFAULTS
    ),
    "limitrange/annotation": Rule("The annotation names what the last LimitRange set.", _LIMIT_RANGER),
    "limitrange/min": Rule("Request, and limit if there is one, may not be below min.", _LIMIT_RANGER),
    "limitrange/max": Rule("Limit must be there and, like the request, not be above max.", _LIMIT_RANGER),
    "limitrange/ratio": Rule("Limit divided by request may not exceed maxLimitRequestRatio.", _LIMIT_RANGER),
    "limitrange/object-type": Rule("A LimitRange item has a known type, each type once.", _VALIDATION),
    "limitrange/object-pod-defaults": Rule("A LimitRange item of type Pod has no defaults.", _VALIDATION),
    "limitrange/object-claim": Rule("A LimitRange item for claims needs min or max storage.", _VALIDATION),
    "limitrange/object-order": Rule("min <= defaultRequest <= default <= max.", _VALIDATION),
    "limitrange/object-ratio": Rule("A ratio is at least 1 and at most max divided by min.", _VALIDATION),
    "validation/resource-name": Rule("A resource name must be known or fully qualified.", _VALIDATION),
    "validation/non-negative": Rule("A quantity may not be negative.", _VALIDATION),
    "validation/integer": Rule("Extended resources come in whole numbers.", _VALIDATION),
    "validation/request-over-limit": Rule("A request may not exceed its limit.", _VALIDATION),
    "validation/request-equals-limit": Rule(
        "For extended resources and huge pages, request and limit are equal.", _VALIDATION
    ),
    "validation/limit-required": Rule("Extended resources and huge pages need a limit.", _VALIDATION),
    "validation/hugepages": Rule("Huge pages come in multiples of the page size.", _VALIDATION),
    "validation/hugepages-alone": Rule("Huge pages need cpu or memory beside them.", _VALIDATION),
    "validation/resource-claim": Rule("A claim must be declared in spec.resourceClaims, once.", _VALIDATION),
    "validation/resize-policy": Rule("A resize policy names cpu or memory once, with a known policy.", _VALIDATION),
    "validation/ephemeral": Rule(
        "Ephemeral containers are added to a running pod, never created with it.", _VALIDATION
    ),
    "pod-level/resource-name": Rule("The pod level takes cpu, memory and huge pages only.", _VALIDATION, _LEVEL),
    "pod-level/claims": Rule("The pod level takes no claims.", _VALIDATION, _LEVEL),
    "pod-level/windows": Rule("Windows pods have no pod-level resources.", _VALIDATION, _LEVEL),
    "pod-level/request-below-containers": Rule(
        "A pod-level request is at least the containers' sum.", _VALIDATION, _LEVEL
    ),
    "pod-level/hugepages-below-containers": Rule(
        "A pod-level huge page limit is at least the containers' sum.", _VALIDATION, _LEVEL
    ),
    "pod-level/container-limit": Rule("No container's limit exceeds the pod level's.", _VALIDATION, _LEVEL),
    "priority/global-default": Rule(
        "A pod without a PriorityClass gets the global default one.", "plugin/pkg/admission/priority"
    ),
    "priority/unknown-class": Rule("A named PriorityClass must exist.", "plugin/pkg/admission/priority"),
    "runtime-class/unknown": Rule("A named RuntimeClass must exist.", "plugin/pkg/admission/runtimeclass"),
    "runtime-class/overhead": Rule(
        "The RuntimeClass adds its overhead to the pod.", "plugin/pkg/admission/runtimeclass"
    ),
    "runtime-class/overhead-differs": Rule(
        "A pod may not bring another overhead than its RuntimeClass.", "plugin/pkg/admission/runtimeclass"
    ),
    "runtime-class/overhead-unexplained": Rule(
        "A pod may not bring overhead without a RuntimeClass.", "plugin/pkg/admission/runtimeclass"
    ),
    "pod/sum": Rule("Containers and sidecars run together: their values add up.", _HELPERS),
    "pod/init-peak": Rule("An init container that needs more than all the rest decides.", _HELPERS),
    "pod/pod-level": Rule("A pod-level value replaces the containers' sum.", _HELPERS, _LEVEL),
    "qos/class": Rule(
        "cpu and memory of all containers, or of the pod level, decide the QoS class.", "core/v1/helper/qos"
    ),
    "qos/brought": Rule("A class in the status of the create request is stored unchecked.", "pkg/registry/core/pod"),
    "quota/must-specify": Rule("Under a quota for a compute name, every container must state it.", _PODS),
    "quota/status-unknown": Rule("A quota whose use is not known yet refuses.", _QUOTA),
    "quota/negative-usage": Rule("Use may not be negative.", _QUOTA),
    "quota/exceeded": Rule("used + requested may not exceed hard.", _QUOTA),
    "quota/limited-resource": Rule("The server allows some resources only under a quota that names them.", _QUOTA),
    "quota/limited-scope": Rule("The server allows some scopes only under a quota that has them.", _QUOTA),
    "quota/resource-name": Rule("A quota limits standard names or fully qualified ones.", _VALIDATION),
    "quota/object-scope": Rule("A quota's scopes exist, fit its names and do not contradict each other.", _VALIDATION),
    "quota/scopes-immutable": Rule("The scopes of a quota never change.", _VALIDATION),
    "resize/absent": Rule("Without in-place resize there is no resize subresource.", _RESIZE, _IN_PLACE),
    "resize/qos": Rule("A resize keeps the QoS class.", _VALIDATION),
    "resize/removed": Rule("A resize removes no request and no limit.", _VALIDATION),
    "resize/immutable": Rule("A resize changes cpu and memory only, in pods without claims on devices.", _VALIDATION),
    "resize/containers": Rule("A resize neither adds, removes, renames nor reorders containers.", _VALIDATION),
    "resize/init": Rule("Plain init containers are resized only where the server allows it.", _VALIDATION),
    "resize/pod-level": Rule(
        "Pods with pod-level resources are resized only with their own feature gate.",
        _VALIDATION,
        "InPlacePodLevelResourcesVerticalScaling",
    ),
    "resize/unsupported": Rule("Static pods, Windows pods and old kubelets do not resize.", _VALIDATION),
    "resize/node-features": Rule(
        "The node must declare that it resizes the pod level, or plain init containers.",
        "plugin/pkg/admission/nodedeclaredfeatures",
        "NodeDeclaredFeatures",
    ),
    "resize/node-absent": Rule("The node that runs the pod must exist.", _POD_RESIZE),
    "resize/node-platform": Rule("Only Linux nodes resize.", _POD_RESIZE),
    "resize/node-capacity": Rule("The resized pod alone must fit the node's allocatable cpu and memory.", _POD_RESIZE),
    "update/pod-containers": Rule("An update neither adds nor removes containers of a pod.", _VALIDATION),
    "update/pod-immutable": Rule("Resources of a pod change by a resize only, most other fields never.", _VALIDATION),
    "update/deadline": Rule("A deadline may be set or shortened, not cleared or prolonged.", _VALIDATION),
    "claim/immutable": Rule("Of a claim only the size and the attributes class change, once it is bound.", _VALIDATION),
    "claim/shrunk": Rule("A claim's size goes back no further than what the volume has.", _VALIDATION),
    "claim/not-expandable": Rule(
        "A claim grows only if its storage class allows it.", "plugin/pkg/admission/storage/persistentvolume/resize"
    ),
    "cgroup/cpu-weight": Rule("A cpu request becomes shares, and those a weight.", _CGROUP),
    "cgroup/cpu-quota": Rule(
        "A cpu limit becomes time in a period; without one of its own a container has the pod level's.", _CGROUP
    ),
    "cgroup/memory": Rule(
        "A memory limit becomes a ceiling in bytes; without one of its own a container has the pod level's.", _CGROUP
    ),
    "cgroup/hugetlb": Rule("Huge pages that nobody asks for are limited to none.", _CGROUP),
    "cgroup/swap": Rule("Burstable containers have a part of the node's swap where LimitedSwap is set.", _RUNTIME),
    "cgroup/memory-qos": Rule(
        "MemoryQoS protects requests from being reclaimed and throttles below the limit.", _RUNTIME, "MemoryQoS"
    ),
}
