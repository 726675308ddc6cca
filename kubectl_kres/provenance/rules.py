"""The catalogue of rules. Codes are stable across releases: runbooks grep for them. docs/rules.md is made from it.

Here stand those of Kubernetes; a system brings its own (``kubectl_kres.NAME.catalogue``).
"""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.provenance.catalogued_rule import SUPPOSED, CataloguedRule
from kubectl_kres.systems import modules

_LIFECYCLE = "apiserver/pkg/admission/plugin/namespace/lifecycle"
_ACCOUNT = "plugin/pkg/admission/serviceaccount/admission.go"
_SECURITY = "pod-security-admission/policy"
_VALIDATING = "apiserver/pkg/admission/plugin/policy/validating"
_EVENTS = "pkg/controller/controller_utils.go"
_WEBHOOKS = "apiserver/pkg/admission/plugin/webhook"
_MUTATING = "apiserver/pkg/admission/plugin/policy/mutating"

_OBJECT = "correct the policy itself at the field that the message names: only its author knows what it is for"
_STRUCTURE = "correct the field that the message names: it has nothing to do with resources, and any edit is a guess"
_NEW_POD = "make a new pod: change the template, or delete the pod and create it again"
_FIXED = "the field cannot be changed on an object that exists: delete the object and create it again"

#: Those of what else admits: namespaces, accounts, Pod Security, policies, webhooks.
_ADMISSION_RULES: Mapping[str, CataloguedRule] = {
    "namespace/mismatch": CataloguedRule(
        "An object is created in the namespace that it names.",
        "apiserver/pkg/registry/rest/meta.go",
        by_hand="write one namespace: that of the object and that of the request differ",
    ),
    "namespace/terminating": CataloguedRule("Nothing is created in a namespace that is being deleted.", _LIFECYCLE),
    "namespace/immortal": CataloguedRule(
        "default, kube-system and kube-public are never deleted.",
        _LIFECYCLE,
        by_hand="the namespaces default, kube-system and kube-public are never deleted",
    ),
    "service-account/missing": CataloguedRule("The service account of a pod must exist.", _ACCOUNT),
    "service-account/mirror": CataloguedRule("A mirror pod names neither a service account nor secrets.", _ACCOUNT),
    "service-account/secret": CataloguedRule(
        "An account with the annotation enforce-mountable-secrets lets pods use only the secrets that it lists.",
        _ACCOUNT,
    ),
    "pod-security/violated": CataloguedRule(
        "A pod keeps to the Pod Security level that its namespace enforces.", f"{_SECURITY}/registry.go"
    ),
    "pod-security/label": CataloguedRule(
        "The labels of Pod Security name a level, and a version v1.x or latest.",
        "pod-security-admission/api/helpers.go",
        by_hand="write privileged, baseline or restricted at the label that the message names",
    ),
    "pod-security/exemptions": CataloguedRule(
        "Users, namespaces and runtime classes that the server's configuration exempts from Pod Security are not seen.",
        "pod-security-admission/admission/admission.go",
        refuses=False,
    ),
    "pod/security-field": CataloguedRule(
        "Security fields hold values that fit each other.",
        "pkg/apis/core/validation/validation.go",
        by_hand=_STRUCTURE,
    ),
    "seen/added-on-create": CataloguedRule(
        "Live pods of the template have what neither it nor a known rule explains: the next one is expected to, too.",
        "docs/admission-plugins.md",
        refuses=False,
    ),
    "seen/refused": CataloguedRule(
        "Events or conditions say that pods are refused, by nothing that is computed here.",
        _EVENTS,
        by_hand="the server's sentence says what it refuses; it is neither a quota nor a LimitRange",
    ),
    "seen/claim-refused": CataloguedRule(
        "Events or conditions say that the PersistentVolumeClaim of a pod is refused.",
        _EVENTS,
        by_hand="correct the PersistentVolumeClaim of the pod",
    ),
    "webhook/denied": CataloguedRule(
        "An admission webhook refuses the pods; events give its words.",
        _WEBHOOKS,
        by_hand="do what the webhook asks for, or ask who keeps it",
    ),
    "webhook/unreachable": CataloguedRule(
        "An admission webhook that cannot be called refuses pods, where its failurePolicy is Fail.",
        _WEBHOOKS,
        by_hand="make the webhook answer again: its Service and pods",
    ),
    "policy/denied": CataloguedRule(
        "A validation of a ValidatingAdmissionPolicy does not hold.", f"{_VALIDATING}/validator.go"
    ),
    "policy/error": CataloguedRule(
        "An expression of a ValidatingAdmissionPolicy that fails on errors cannot be evaluated.",
        f"{_VALIDATING}/validator.go",
    ),
    "policy/mutated": CataloguedRule(
        "A MutatingAdmissionPolicy set the value.", f"{_MUTATING}/dispatcher.go", refuses=False
    ),
    "policy/no-answer": CataloguedRule(
        "Before 1.37 the server drops the connection where a JSONPatch of a policy sets a list of Object values.",
        "apiserver/pkg/cel/mutation/dynamic/objects.go",
    ),
    "policy/mutation-failed": CataloguedRule(
        "A mutation of a MutatingAdmissionPolicy that fails on errors cannot be carried out.",
        f"{_MUTATING}/dispatcher.go",
    ),
    "policy/invalid": CataloguedRule(
        "A policy compiles, names what exists and says what it does.",
        "pkg/apis/admissionregistration/validation/validation.go",
        by_hand=_OBJECT,
    ),
}


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

RULES: Mapping[str, CataloguedRule] = {
    "manifest/written": CataloguedRule(
        "The value was written in the manifest or template.", "the object itself", refuses=False
    ),
    "quantity/canonical": CataloguedRule(
        "The server stores a quantity in its canonical notation, rounded up to thousandths.",
        _DEFAULTS,
        refuses=False,
    ),
    "quantity/unparsable": CataloguedRule(
        "A text that is no quantity ends the request with 400.", "apimachinery quantity.go"
    ),
    "decoding/type": CataloguedRule(
        "A value of another type than its field's (a number where a text is due) ends the request with 400.",
        "sigs.k8s.io/json decode.go",
    ),
    "defaulting/request-from-limit": CataloguedRule(
        "A container's limit without a request becomes the request, too.",
        _DEFAULTS,
        refuses=False,
    ),
    "pod-level/request-from-containers": CataloguedRule(
        "With pod-level limits, from 1.37 on with any pod-level value, a missing request is the containers' sum.",
        _DEFAULTS,
        _LEVEL,
        refuses=False,
    ),
    "pod-level/request-from-limit": CataloguedRule(
        "A pod-level limit without any request becomes the request.",
        _DEFAULTS,
        _LEVEL,
        refuses=False,
    ),
    "pod-level/hugepages-limit": CataloguedRule(
        "A pod-level stanza takes the huge page limits of the containers.",
        _DEFAULTS,
        _LEVEL,
        refuses=False,
    ),
    "pod-level/limit-from-containers": CataloguedRule(
        "From 1.37 on, a pod-level request without a limit gets the containers' limits as its limit, if all have one.",
        "pkg/api/pod/util.go",
        "PodLevelResourcesFixDefaulting",
        refuses=False,
    ),
    "pod-level/limit-from-request": CataloguedRule(
        "From 1.37 on, that limit is the pod-level request where the containers' limits are less.",
        "pkg/api/pod/util.go",
        "PodLevelResourcesFixDefaulting",
        refuses=False,
    ),
    "pod-level/dropped": CataloguedRule(
        "With the feature gate PodLevelResources off, spec.resources is dropped without a word.",
        "pkg/api/pod/util.go",
        refuses=False,
    ),
    "limitrange/default": CataloguedRule("A LimitRange fills a limit that is missing.", _LIMIT_RANGER, refuses=False),
    "limitrange/default-request": CataloguedRule(
        "A LimitRange fills a request that is missing.", _LIMIT_RANGER, refuses=False
    ),
    "limitrange/default-from-max": CataloguedRule(
        "In a LimitRange, max without default becomes the default limit.",
        _DEFAULTS,
        refuses=False,
    ),
    "limitrange/default-request-from-default": CataloguedRule(
        "In a LimitRange, default without defaultRequest becomes the default request.",
        _DEFAULTS,
        refuses=False,
    ),
    "limitrange/default-request-from-min": CataloguedRule(
        "In a LimitRange, min without defaultRequest becomes the default request.",
        _DEFAULTS,
        refuses=False,
    ),
    "limitrange/annotation": CataloguedRule(
        "The annotation names what the last LimitRange set.", _LIMIT_RANGER, refuses=False
    ),
    "limitrange/min": CataloguedRule("Request, and limit if there is one, may not be below min.", _LIMIT_RANGER),
    "limitrange/max": CataloguedRule("Limit must be there and, like the request, not be above max.", _LIMIT_RANGER),
    "limitrange/ratio": CataloguedRule("Limit divided by request may not exceed maxLimitRequestRatio.", _LIMIT_RANGER),
    "limitrange/object-type": CataloguedRule(
        "A LimitRange item has a known type, each type once.", _VALIDATION, by_hand=_OBJECT
    ),
    "limitrange/object-pod-defaults": CataloguedRule(
        "A LimitRange item of type Pod has no defaults.", _VALIDATION, by_hand=_OBJECT
    ),
    "limitrange/object-claim": CataloguedRule(
        "A LimitRange item for claims needs min or max storage.", _VALIDATION, by_hand=_OBJECT
    ),
    "limitrange/object-order": CataloguedRule("min <= defaultRequest <= default <= max.", _VALIDATION, by_hand=_OBJECT),
    "limitrange/object-ratio": CataloguedRule(
        "A ratio is at least 1 and at most max divided by min.", _VALIDATION, by_hand=_OBJECT
    ),
    "kubectl/no-match": CataloguedRule(
        "kubectl sends only objects of kinds and versions that the server serves.", "apimachinery meta/errors.go"
    ),
    "namespace/not-found": CataloguedRule(
        "Nothing is stored in a namespace that does not exist.", "apiserver/pkg/admission/plugin/namespace/lifecycle"
    ),
    "kubectl/unknown-field": CataloguedRule(
        "kubectl has the server refuse fields that it does not know, unless told --validate=warn.",
        "apiserver endpoints/handlers/create.go",
    ),
    "validation/port": CataloguedRule(
        "Ports are numbers from 1, named once, and no port of the host is taken twice.",
        _VALIDATION,
        by_hand="use a port of its own, from 1 to 65535, at {path}",
    ),
    "validation/tag": CataloguedRule(
        "Labels and annotations have qualified names, and a label's value is a word.",
        _VALIDATION,
        by_hand="write a key or a value that {path} may have: letters, digits, '-', '_' and '.'",
    ),
    "validation/claim": CataloguedRule(
        "A PersistentVolumeClaim names how it is accessed, and classes by their names.",
        _VALIDATION,
        by_hand="write what a claim may have at {path}",
    ),
    "validation/selector": CataloguedRule(
        "A workload selects the labels of its own template.",
        _VALIDATION,
        by_hand="make spec.selector and the labels of the template agree: {path}",
    ),
    "validation/service": CataloguedRule(
        "A Service's ports are as its type has them.",
        _VALIDATION,
        by_hand="write what a Service of that type may have at {path}",
    ),
    "validation/name": CataloguedRule(
        "Names are DNS labels or subdomains, and may not be left out.",
        _VALIDATION,
        by_hand="write a name of lower case letters, digits and '-' at {path}",
    ),
    "validation/owner": CataloguedRule(
        "An owner is named by version, kind, name and UID; one of them controls.",
        _VALIDATION,
        by_hand=_STRUCTURE,
    ),
    "validation/volume": CataloguedRule(
        "A volume has one source, and that says what it needs.", _VALIDATION, by_hand=_STRUCTURE
    ),
    "validation/mount": CataloguedRule(
        "A container mounts volumes that the pod has, each path once.", _VALIDATION, by_hand=_STRUCTURE
    ),
    "validation/env": CataloguedRule(
        "A variable has a name, and a value or one source of it.", _VALIDATION, by_hand=_STRUCTURE
    ),
    "validation/reference": CataloguedRule(
        "What a variable or a file is made of names a field or key that there can be.",
        _VALIDATION,
        by_hand=_STRUCTURE,
    ),
    "validation/probe": CataloguedRule(
        "A probe or hook does one thing, within the time that the pod has.",
        _VALIDATION,
        by_hand=_STRUCTURE,
    ),
    "validation/security": CataloguedRule(
        "Users and groups are numbers, profiles are known and do not contradict.",
        _VALIDATION,
        by_hand=_STRUCTURE,
    ),
    "validation/placing": CataloguedRule(
        "Selectors, affinities, tolerations and spread constraints can be understood.",
        _VALIDATION,
        by_hand=_STRUCTURE,
    ),
    "validation/autoscaler": CataloguedRule(
        "The bounds of a HorizontalPodAutoscaler are positive and in order; minReplicas may be 0 from 1.37 on.",
        "pkg/apis/autoscaling/validation/validation.go",
        by_hand=_STRUCTURE,
    ),
    "validation/pod": CataloguedRule(
        "Addresses, gates and annotations of a pod are such as it takes.", _VALIDATION, by_hand=_STRUCTURE
    ),
    "validation/job": CataloguedRule(
        "A job's counts and policies fit each other.",
        "pkg/apis/batch/validation/validation.go",
        by_hand=_STRUCTURE,
    ),
    "validation/rollout": CataloguedRule(
        "How pods are replaced leaves a way to do it.",
        "pkg/apis/apps/validation/validation.go",
        by_hand=_STRUCTURE,
    ),
    "validation/containers": CataloguedRule("A pod has a container at least, and no two of one name.", _VALIDATION),
    "validation/image": CataloguedRule("A container names its image.", _VALIDATION, by_hand="name an image at {path}"),
    "validation/resource-name": CataloguedRule("A resource name must be known or fully qualified.", _VALIDATION),
    "validation/non-negative": CataloguedRule(
        "A quantity may not be negative.", _VALIDATION, by_hand="use 0 or more at {path}"
    ),
    "validation/integer": CataloguedRule("Extended resources come in whole numbers.", _VALIDATION),
    "validation/request-over-limit": CataloguedRule("A request may not exceed its limit.", _VALIDATION),
    "validation/request-equals-limit": CataloguedRule(
        "For extended resources and huge pages, request and limit are equal.", _VALIDATION
    ),
    "validation/limit-required": CataloguedRule("Extended resources and huge pages need a limit.", _VALIDATION),
    "validation/hugepages": CataloguedRule(
        "Huge pages come in multiples of the page size.",
        _VALIDATION,
        by_hand="use a multiple of the page size at {path}",
    ),
    "validation/hugepages-alone": CataloguedRule(
        "Huge pages need cpu or memory beside them.",
        _VALIDATION,
        by_hand="give {container} cpu or memory beside the huge pages",
    ),
    "validation/resource-claim": CataloguedRule(
        "A claim must be declared in spec.resourceClaims, once.",
        _VALIDATION,
        by_hand="declare the claim in spec.resourceClaims, or take it out of {path}",
    ),
    "validation/claim-size": CataloguedRule(
        "A PersistentVolumeClaim requests storage, more than none.",
        _VALIDATION,
        by_hand="request more than no storage: spec.resources.requests.storage",
    ),
    "validation/resize-policy": CataloguedRule(
        "A resize policy names cpu or memory once, with a known policy.",
        _VALIDATION,
        by_hand="correct {path}",
    ),
    "validation/choice": CataloguedRule(
        "Restart policies and operating systems are those that pods know.",
        _VALIDATION,
        by_hand="choose a supported value at {path}",
    ),
    "validation/deadline": CataloguedRule(
        "An active deadline is a positive number of seconds.", _VALIDATION, by_hand="set {path} to at least 1"
    ),
    "validation/ephemeral": CataloguedRule(
        "Ephemeral containers are added to a running pod, never created with it.",
        _VALIDATION,
        by_hand="take spec.ephemeralContainers out: kubectl debug adds them later",
    ),
    "pod-level/resource-name": CataloguedRule(
        "The pod level takes cpu, memory and huge pages only.",
        _VALIDATION,
        _LEVEL,
        by_hand="name only cpu, memory or hugepages-SIZE at the pod level: {path}",
    ),
    "pod-level/claims": CataloguedRule(
        "The pod level takes no claims.",
        _VALIDATION,
        _LEVEL,
        by_hand="move the claims from the pod level to a container",
    ),
    "pod-level/windows": CataloguedRule(
        "Windows pods have no pod-level resources.",
        _VALIDATION,
        _LEVEL,
        by_hand="take spec.resources out: Windows pods have no pod-level resources",
    ),
    "pod-level/request-below-containers": CataloguedRule(
        "A pod-level request is at least the containers' sum.", _VALIDATION, _LEVEL
    ),
    "pod-level/hugepages-below-containers": CataloguedRule(
        "A pod-level huge page limit is at least the containers' sum.", _VALIDATION, _LEVEL
    ),
    "pod-level/container-limit": CataloguedRule("No container's limit exceeds the pod level's.", _VALIDATION, _LEVEL),
    "priority/global-default": CataloguedRule(
        "A pod without a PriorityClass gets the global default one.",
        "plugin/pkg/admission/priority",
        refuses=False,
    ),
    "priority/unknown-class": CataloguedRule(
        "A named PriorityClass must exist.",
        "plugin/pkg/admission/priority",
        by_hand="name a PriorityClass that exists (kubectl get priorityclasses{flags}), or create it",
    ),
    "priority/brought": CataloguedRule(
        "A pod may not bring another priority than its PriorityClass.",
        "plugin/pkg/admission/priority",
        by_hand="take spec.priority and spec.preemptionPolicy out: the PriorityClass sets them",
    ),
    "runtime-class/unknown": CataloguedRule(
        "A named RuntimeClass must exist.",
        "plugin/pkg/admission/runtimeclass",
        by_hand="name a RuntimeClass that exists (kubectl get runtimeclasses{flags}), or create it",
    ),
    "runtime-class/overhead": CataloguedRule(
        "The RuntimeClass adds its overhead to the pod.",
        "plugin/pkg/admission/runtimeclass",
        refuses=False,
    ),
    "runtime-class/overhead-differs": CataloguedRule(
        "A pod may not bring another overhead than its RuntimeClass.",
        "plugin/pkg/admission/runtimeclass",
        by_hand="take spec.overhead out: the RuntimeClass sets it",
    ),
    "runtime-class/overhead-unexplained": CataloguedRule(
        "A pod may not bring overhead without a RuntimeClass.",
        "plugin/pkg/admission/runtimeclass",
        by_hand="take spec.overhead out, or name a RuntimeClass with overhead",
    ),
    "pod/sum": CataloguedRule("Containers and sidecars run together: their values add up.", _HELPERS, refuses=False),
    "pod/init-peak": CataloguedRule(
        "An init container that needs more than all the rest decides.", _HELPERS, refuses=False
    ),
    "pod/pod-level": CataloguedRule("A pod-level value replaces the containers' sum.", _HELPERS, _LEVEL, refuses=False),
    "qos/class": CataloguedRule(
        "cpu and memory of all containers, or of the pod level, decide the QoS class.",
        "core/v1/helper/qos",
        refuses=False,
    ),
    "qos/brought": CataloguedRule(
        "A class in the status of the create request is stored unchecked.",
        "pkg/registry/core/pod",
        refuses=False,
    ),
    "quota/must-specify": CataloguedRule("Under a quota for a compute name, every container must state it.", _PODS),
    "quota/status-unknown": CataloguedRule(
        "A quota whose use is not known yet refuses.",
        _QUOTA,
        by_hand="wait until the quota controller has counted, then try again",
    ),
    "quota/negative-usage": CataloguedRule("Use may not be negative.", _QUOTA, by_hand="use 0 or more everywhere"),
    "quota/exceeded": CataloguedRule("used + requested may not exceed hard.", _QUOTA),
    "quota/limited-resource": CataloguedRule(
        "The server allows some resources only under a quota that names them.",
        _QUOTA,
        by_hand="create a quota in the namespace that names {resource}",
    ),
    "quota/limited-scope": CataloguedRule(
        "The server allows some scopes only under a quota that has them.",
        _QUOTA,
        by_hand="create a quota in the namespace with that scope",
    ),
    "quota/resource-name": CataloguedRule(
        "A quota limits standard names or fully qualified ones.", _VALIDATION, by_hand=_OBJECT
    ),
    "quota/object-scope": CataloguedRule(
        "A quota's scopes exist, fit its names and do not contradict each other.",
        _VALIDATION,
        by_hand=_OBJECT,
    ),
    "quota/scopes-immutable": CataloguedRule("The scopes of a quota never change.", _VALIDATION, by_hand=_FIXED),
    "resize/absent": CataloguedRule(
        "Without in-place resize there is no resize subresource.",
        _RESIZE,
        _IN_PLACE,
        by_hand=f"{_NEW_POD}; resizes in place need Kubernetes 1.33, or its gate in 1.27 and later",
    ),
    "resize/qos": CataloguedRule("A resize keeps the QoS class.", _VALIDATION),
    "resize/removed": CataloguedRule(
        "A resize removes no request and no limit.",
        _VALIDATION,
        by_hand="lower the values of {path} instead of removing them",
    ),
    "resize/immutable": CataloguedRule(
        "A resize changes cpu and memory only, in pods without claims on devices.",
        _VALIDATION,
        by_hand="change cpu and memory only; for anything else make a new pod",
    ),
    "resize/containers": CataloguedRule(
        "A resize neither adds, removes, renames nor reorders containers.",
        _VALIDATION,
        by_hand="name the containers as they are, and in their order",
    ),
    "resize/init": CataloguedRule(
        "Plain init containers are resized only where the server allows it.",
        _VALIDATION,
        by_hand="leave plain init containers as they are: they have run, or run with what they have",
    ),
    "resize/pod-level": CataloguedRule(
        "Pods with pod-level resources are resized only with their own feature gate.",
        _VALIDATION,
        "InPlacePodLevelResourcesVerticalScaling",
        by_hand=f"{_NEW_POD}; this server resizes no pods with pod-level resources",
    ),
    "resize/unsupported": CataloguedRule(
        "Static pods, Windows pods and old kubelets do not resize.", _VALIDATION, by_hand=_NEW_POD
    ),
    "resize/node-features": CataloguedRule(
        "The node must declare that it resizes the pod level, or plain init containers.",
        "plugin/pkg/admission/nodedeclaredfeatures",
        "NodeDeclaredFeatures",
    ),
    "resize/node-absent": CataloguedRule(
        "The node that runs the pod must exist.",
        _POD_RESIZE,
        by_hand="wait until the pod has been removed with its node",
    ),
    "resize/node-platform": CataloguedRule("Only Linux nodes resize.", _POD_RESIZE, by_hand=_NEW_POD),
    "resize/node-capacity": CataloguedRule(
        "The resized pod alone must fit the node's allocatable cpu and memory.", _POD_RESIZE
    ),
    "update/pod-containers": CataloguedRule(
        "An update neither adds nor removes containers of a pod.", _VALIDATION, by_hand=_FIXED
    ),
    "update/pod-immutable": CataloguedRule(
        "Resources of a pod change by a resize only, most other fields never.",
        _VALIDATION,
        by_hand=_FIXED,
    ),
    "update/immutable": CataloguedRule(
        "Selectors, and what a StatefulSet or Job is made of, never change.",
        _VALIDATION,
        by_hand=_FIXED,
    ),
    "update/deadline": CataloguedRule(
        "A deadline may be set or shortened, not cleared or prolonged.",
        _VALIDATION,
        by_hand="a deadline of a pod that runs can only be shortened",
    ),
    "claim/immutable": CataloguedRule(
        "Of a claim only the size and the attributes class change, once it is bound.",
        _VALIDATION,
        by_hand=_FIXED,
    ),
    "claim/shrunk": CataloguedRule(
        "A claim's size goes back no further than what the volume has.",
        _VALIDATION,
        by_hand="a claim is never made smaller than it is: make a new one and copy the data",
    ),
    "claim/not-expandable": CataloguedRule(
        "A claim grows only if its storage class allows it.",
        "plugin/pkg/admission/storage/persistentvolume/resize",
        by_hand="its storage class does not let claims grow: make a new claim of another class",
    ),
    "cgroup/cpu-weight": CataloguedRule("A cpu request becomes shares, and those a weight.", _CGROUP, refuses=False),
    "cgroup/cpu-quota": CataloguedRule(
        "A cpu limit becomes time in a period; without one of its own a container has the pod level's.",
        _CGROUP,
        refuses=False,
    ),
    "cgroup/memory": CataloguedRule(
        "A memory limit becomes a ceiling in bytes; without one of its own a container has the pod level's.",
        _CGROUP,
        refuses=False,
    ),
    "cgroup/hugetlb": CataloguedRule("Huge pages that nobody asks for are limited to none.", _CGROUP, refuses=False),
    "cgroup/swap": CataloguedRule(
        "Burstable containers have a part of the node's swap where LimitedSwap is set.",
        _RUNTIME,
        refuses=False,
    ),
    "cgroup/memory-qos": CataloguedRule(
        "MemoryQoS protects requests from being reclaimed and throttles below the limit.",
        _RUNTIME,
        "MemoryQoS",
        refuses=False,
    ),
    "server/assumed": CataloguedRule(
        "Versions and settings that nobody gave are those of a server as shipped.",
        SUPPOSED,
        refuses=False,
    ),
    "server/feature-gate": CataloguedRule(
        "A feature gate that nobody gave is as the version ships it.", SUPPOSED, refuses=False
    ),
    "start/live": CataloguedRule(
        "Where no template is found, admission starts from the live pod.", SUPPOSED, refuses=False
    ),
    "file/unchecked": CataloguedRule("What is not checked of a file is taken as valid.", SUPPOSED, refuses=False),
    "file/exists": CataloguedRule(
        "An object of a file that exists already is changed by apply; create is refused.",
        SUPPOSED,
        by_hand="name it otherwise, or apply it: create takes no name that is taken",
    ),
    "file/taken-as-new": CataloguedRule(
        "An object of a file that could not be looked up is taken as new.", SUPPOSED, refuses=False
    ),
    "claim/default-class": CataloguedRule(
        "A claim that names no storage class gets the newest of the default ones.",
        "plugin/pkg/admission/storage/storageclass/setdefault",
        refuses=False,
    ),
    "claim/taken-as-new": CataloguedRule(
        "A volume claim that could not be looked up is taken as new.", SUPPOSED, refuses=False
    ),
    "policy/unparsable": CataloguedRule(
        "A policy, or an overhead, with a quantity that does not parse is left out.",
        SUPPOSED,
        refuses=False,
    ),
    "policy/refused": CataloguedRule(
        "A policy of a file that the server would not store is left out.", SUPPOSED, refuses=False
    ),
    "quota/from-file": CataloguedRule("A quota of a file is enforced, with nothing used yet.", SUPPOSED, refuses=False),
    "quota/no-status": CataloguedRule("A stored quota without a status enforces nothing yet.", SUPPOSED, refuses=False),
    "class/unread": CataloguedRule("A class that is named and could not be read exists.", SUPPOSED, refuses=False),
    "webhook/not-computed": CataloguedRule(
        "What webhooks add to pods is not in the figures for today.", SUPPOSED, refuses=False
    ),
    "resize/node-unknown": CataloguedRule(
        "A node that is not known has room, and can resize.", SUPPOSED, refuses=False
    ),
    **_ADMISSION_RULES,
    **{code: rule for module in modules("catalogue") for code, rule in module.RULES.items()},
}
