"""The catalogue of rules. Codes are stable across releases: runbooks grep for them. docs/rules.md is made from it."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.provenance.policy_rules import POLICY_RULES
from kubectl_kres.provenance.rule import Rule

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
_TEKTON_API = "tekton pkg/apis/pipeline/v1"
_TEKTON_RUN = "tekton pkg/reconciler/taskrun/taskrun.go"
_TEKTON_LEVEL = "tekton pkg/internal/computeresources/tasklevel/tasklevel.go"
_TEKTON_LIMITS = "tekton pkg/internal/computeresources/transformer.go"
_TEKTON_DEFAULTS = "tekton pkg/internal/defaultresourcerequirements/transformer.go"
_TEKTON_CONFIG = "tekton pkg/apis/config"
_CAPSULE_POOL = "capsule internal/controllers/resourcepools/pool_controller.go"
_CAPSULE_CLAIM = "capsule internal/controllers/resourcepools/claim_controller.go"
_CAPSULE_HOOKS = "capsule internal/webhook/resourcepool"
#: What stands for a source where something could not be known and was supposed.
_SUPPOSED = "assumed, and named in the answer"

RULES: Mapping[str, Rule] = {
    "manifest/written": Rule("The value was written in the manifest or template.", "the object itself"),
    "quantity/canonical": Rule(
        "The server stores a quantity in its canonical notation, rounded up to thousandths.", _DEFAULTS
    ),
    "quantity/unparsable": Rule("A text that is no quantity ends the request with 400.", "apimachinery quantity.go"),
    "decoding/type": Rule(
        "A value of another type than its field's (a number where a text is due) ends the request with 400.",
        "sigs.k8s.io/json decode.go",
    ),
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
    "kubectl/no-match": Rule(
        "kubectl sends only objects of kinds and versions that the server serves.", "apimachinery meta/errors.go"
    ),
    "namespace/not-found": Rule(
        "Nothing is stored in a namespace that does not exist.", "apiserver/pkg/admission/plugin/namespace/lifecycle"
    ),
    "kubectl/unknown-field": Rule(
        "kubectl has the server refuse fields that it does not know, unless told --validate=warn.",
        "apiserver endpoints/handlers/create.go",
    ),
    "validation/port": Rule(
        "Ports are numbers from 1, named once, and no port of the host is taken twice.", _VALIDATION
    ),
    "validation/tag": Rule("Labels and annotations have qualified names, and a label's value is a word.", _VALIDATION),
    "validation/claim": Rule(
        "A PersistentVolumeClaim names how it is accessed, and classes by their names.", _VALIDATION
    ),
    "validation/selector": Rule("A workload selects the labels of its own template.", _VALIDATION),
    "validation/service": Rule("A Service's ports are as its type has them.", _VALIDATION),
    "validation/name": Rule("Names are DNS labels or subdomains, and may not be left out.", _VALIDATION),
    "validation/owner": Rule("An owner is named by version, kind, name and UID; one of them controls.", _VALIDATION),
    "validation/volume": Rule("A volume has one source, and that says what it needs.", _VALIDATION),
    "validation/mount": Rule("A container mounts volumes that the pod has, each path once.", _VALIDATION),
    "validation/env": Rule("A variable has a name, and a value or one source of it.", _VALIDATION),
    "validation/reference": Rule(
        "What a variable or a file is made of names a field or key that there can be.", _VALIDATION
    ),
    "validation/probe": Rule("A probe or hook does one thing, within the time that the pod has.", _VALIDATION),
    "validation/security": Rule("Users and groups are numbers, profiles are known and do not contradict.", _VALIDATION),
    "validation/placing": Rule(
        "Selectors, affinities, tolerations and spread constraints can be understood.", _VALIDATION
    ),
    "validation/pod": Rule("Addresses, gates and annotations of a pod are such as it takes.", _VALIDATION),
    "validation/job": Rule("A job's counts and policies fit each other.", "pkg/apis/batch/validation/validation.go"),
    "validation/rollout": Rule(
        "How pods are replaced leaves a way to do it.", "pkg/apis/apps/validation/validation.go"
    ),
    "validation/containers": Rule("A pod has a container at least, and no two of one name.", _VALIDATION),
    "validation/image": Rule("A container names its image.", _VALIDATION),
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
    "validation/claim-size": Rule("A PersistentVolumeClaim requests storage, more than none.", _VALIDATION),
    "validation/resize-policy": Rule("A resize policy names cpu or memory once, with a known policy.", _VALIDATION),
    "validation/choice": Rule("Restart policies and operating systems are those that pods know.", _VALIDATION),
    "validation/deadline": Rule("An active deadline is a positive number of seconds.", _VALIDATION),
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
    "priority/brought": Rule(
        "A pod may not bring another priority than its PriorityClass.", "plugin/pkg/admission/priority"
    ),
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
    "update/immutable": Rule("Selectors, and what a StatefulSet or Job is made of, never change.", _VALIDATION),
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
    "tekton/step": Rule("The value stands at the step in the Task.", _TEKTON_API),
    "tekton/step-template": Rule("The step template fills what a step lacks, name by name.", _TEKTON_API),
    "tekton/step-spec": Rule("An entry of stepSpecs (stepOverrides) replaces values of its step.", _TEKTON_API),
    "tekton/sidecar": Rule("The value stands at the sidecar in the Task.", _TEKTON_API),
    "tekton/sidecar-spec": Rule(
        "An entry of sidecarSpecs (sidecarOverrides) replaces values of its sidecar.", _TEKTON_API
    ),
    "tekton/task-level-limit": Rule("The limits of the whole Task are copied in full to each step.", _TEKTON_LEVEL),
    "tekton/task-level-request": Rule(
        "The requests of the whole Task are divided by the number of steps; what is left over is lost.", _TEKTON_LEVEL
    ),
    "tekton/task-level-request-from-limit": Rule(
        "With only limits for the whole Task, a step without requests gets a share of the limits.", _TEKTON_LEVEL
    ),
    "tekton/task-level-dropped": Rule(
        "Values for the whole Task replace those of the steps as a whole: names they lack are gone.", _TEKTON_LEVEL
    ),
    "tekton/config-default-named": Rule(
        "config-defaults has an entry with the name of this empty container.", _TEKTON_DEFAULTS
    ),
    "tekton/config-default-prefix": Rule(
        "config-defaults has an entry for the beginning of this empty container's name.", _TEKTON_DEFAULTS
    ),
    "tekton/config-default": Rule("config-defaults has an entry for every empty container.", _TEKTON_DEFAULTS),
    "tekton/limitrange-share": Rule(
        "A step without a request gets defaultRequest divided by the number of steps, at least min.", _TEKTON_LIMITS
    ),
    "tekton/shared-entry": Rule(
        "Containers with the same entry of config-defaults share its requests, and what a LimitRange adds.",
        _TEKTON_LIMITS,
    ),
    "tekton/built-in": Rule(
        "Tekton 1.13.0 gave the containers that it adds values of its own.", "tekton pkg/pod/pod.go at v1.13.0"
    ),
    "tekton/decode": Rule("The webhook decodes strictly: bad quantities and unknown fields end it.", _TEKTON_API),
    "tekton/one-of": Rule("A run has either a reference or an embedded spec.", _TEKTON_API),
    "tekton/no-steps": Rule("A Task has steps.", _TEKTON_API),
    "tekton/step-name": Rule("Each step has a name of its own: letters a-z, digits and dashes.", _TEKTON_API),
    "tekton/step-ref": Rule("A step that takes a StepAction says nothing that the StepAction says.", _TEKTON_API),
    "tekton/image": Rule("A step or sidecar has an image; a step can have it from the step template.", _TEKTON_API),
    "tekton/script": Rule("A step or sidecar has a script or a command.", _TEKTON_API),
    "tekton/artifacts": Rule("Artifacts need enable-artifacts to be true.", _TEKTON_API),
    "tekton/pipeline-task-name": Rule(
        "Each task of a Pipeline has a name of its own: letters a-z, digits and dashes.", _TEKTON_API
    ),
    "tekton/run-after": Rule("A task waits for tasks of its Pipeline; those in finally for none.", _TEKTON_API),
    "tekton/cycle": Rule("Tasks of a Pipeline do not wait for each other in a ring.", _TEKTON_API),
    "tekton/timeout": Rule("No timeout is below zero, or above that of what it is a part of.", _TEKTON_API),
    "tekton/retries": Rule("Retries are not below zero.", _TEKTON_API),
    "tekton/run-status": Rule("A run can be sent as pending or cancelled, and as nothing else.", _TEKTON_API),
    "tekton/breakpoint": Rule("Breakpoints stop a run when a step fails, and before steps, each once.", _TEKTON_API),
    "tekton/reserved-sidecar": Rule("The name of the results sidecar is taken.", _TEKTON_API),
    "tekton/retired-field": Rule("The inputs and outputs of old are no longer accepted.", _TEKTON_API),
    "tekton/api-fields": Rule("A field needs enable-api-fields to be beta or alpha.", _TEKTON_API),
    "tekton/override-name": Rule("Each override names its step or sidecar, each once.", _TEKTON_API),
    "tekton/task-level-conflict": Rule(
        "Values for the whole Task and values for single steps exclude each other.", _TEKTON_API
    ),
    "tekton/request-over-limit": Rule(
        "A step's request may not exceed its limit, as the Task has them.",
        "tekton pkg/reconciler/taskrun/validate_taskrun.go",
    ),
    "tekton/given-twice": Rule("A parameter or workspace is given, and declared, once.", _TEKTON_API),
    "tekton/undeclared": Rule(
        "Steps refer only to parameters, results and workspaces that are declared, or given by the run.", _TEKTON_API
    ),
    "tekton/variable-use": Rule(
        "A list stands alone in command and args, an object is taken by key, results of steps wait for their step.",
        _TEKTON_API,
    ),
    "tekton/declaration": Rule(
        "A parameter has a name of letters, one of three types, a default of that type; an object names its keys.",
        _TEKTON_API,
    ),
    "tekton/result": Rule("A result has a name of letters and one of three types.", _TEKTON_API),
    "tekton/volume": Rule("Volumes have different names, also from those that Tekton adds.", _TEKTON_API),
    "tekton/unmountable": Rule("A step mounts volumes that its pod has, each at a path of its own.", _VALIDATION),
    "tekton/mount": Rule("Nothing is mounted where Tekton's own files are.", _TEKTON_API),
    "tekton/when": Rule("A condition has an operator, in or notin, and values.", _TEKTON_API),
    "tekton/action-script": Rule("The script of a StepAction refers to no parameters.", _TEKTON_API),
    "tekton/workspace-binding": Rule("A workspace is bound to exactly one volume, which is named.", _TEKTON_API),
    "tekton/name": Rule("A Task in the namespace is named by at most 63 letters, digits, '-', '_', '.'.", _TEKTON_API),
    "tekton/on-error": Rule(
        "What a failure does is continue or stopAndFail; a task that continues has no retries.", _TEKTON_API
    ),
    "tekton/resolution": Rule(
        "Tasks, StepActions and Pipelines are looked for when a run starts; one that is not there ends it.", _TEKTON_RUN
    ),
    "tekton/params": Rule("Each parameter of the Task has a value or a default.", _TEKTON_RUN),
    "tekton/workspaces": Rule("A run binds the workspaces of its Task that are not optional, no others.", _TEKTON_RUN),
    "tekton/one-claim": Rule(
        "With coschedule: workspaces, the workspaces of a TaskRun are backed by at most one claim.", _TEKTON_RUN
    ),
    "tekton/unknown-override": Rule(
        "Overrides name steps and sidecars that the Task has.", "tekton pkg/reconciler/taskrun/validate_taskrun.go"
    ),
    "tekton/unknown-pipeline-task": Rule(
        "Entries of taskRunSpecs name tasks of the Pipeline.", "tekton pkg/reconciler/pipelinerun/pipelinerun.go"
    ),
    "tekton/object-refused": Rule("The API server refuses the object itself, a quota that counts it for one.", _QUOTA),
    "tekton/exceeded-quota": Rule("A pod that a quota has no room for is tried again every minute.", _TEKTON_RUN),
    "tekton/quota-conflict": Rule("A quota that changes at the same moment: tried again after a second.", _TEKTON_RUN),
    "tekton/pod-exists": Rule("The pod is there already.", _TEKTON_RUN),
    "tekton/pod-security": Rule("Pod Security or an SCC refuses the pod: the run fails.", _TEKTON_RUN),
    "tekton/pod-security-unknown": Rule("Security contexts are not checked against Pod Security.", _TEKTON_RUN),
    "tekton/pod-creation-failed": Rule("Any other refusal of the pod fails the run.", _TEKTON_RUN),
    "tekton/config-unknown": Rule("Configuration that may not be read is assumed to be as shipped.", _TEKTON_CONFIG),
    "tekton/config-unreadable": Rule("Configuration that is not valid is not used.", _TEKTON_CONFIG),
    "tekton/older": Rule("Rules are those of Tekton 1.15; what an older one does otherwise is named.", _TEKTON_CONFIG),
    "tekton/too-old": Rule("The rules are those of Tekton 0.40 and later.", _TEKTON_CONFIG),
    "tekton/orders-not-all": Rule("So many LimitRanges that not every order was tried.", _TEKTON_LIMITS),
    "tekton/step-action-unknown": Rule("A StepAction that is not known may add init containers.", _TEKTON_API),
    "capsule/choice": Rule(
        "A claim without a pool gets one that has all its resources, one with room first; of equals any.",
        _CAPSULE_HOOKS,
    ),
    "capsule/claim-amounts": Rule("A claim states amounts, if only none.", _CAPSULE_HOOKS),
    "capsule/immutable": Rule("A claim in use changes neither its amounts nor its pool.", _CAPSULE_HOOKS),
    "capsule/delete-used": Rule("A claim in use is not deleted.", _CAPSULE_HOOKS),
    "capsule/shrink-claimed": Rule("A pool does not shrink below what is claimed.", _CAPSULE_HOOKS),
    "capsule/remove-claimed": Rule("A resource that is claimed stays in its pool.", _CAPSULE_HOOKS),
    "capsule/pool-named": Rule("A claim names a pool.", _CAPSULE_CLAIM),
    "capsule/pool-exists": Rule("The named pool exists.", _CAPSULE_CLAIM),
    "capsule/namespace-selected": Rule(
        "The pool lists the claim's namespace in its status and is not being deleted.", _CAPSULE_CLAIM
    ),
    "capsule/resource-in-pool": Rule("The pool has each resource that the claim names.", _CAPSULE_CLAIM),
    "capsule/pool-name": Rule(
        "A pool that claims can belong to has no dot in its name, and at most 63 characters.", _CAPSULE_CLAIM
    ),
    "capsule/kept": Rule("A share that was given stays as long as the claim does not change.", _CAPSULE_POOL),
    "capsule/changed": Rule(
        "The old amounts of a changed claim count as room; what does not fit then loses the whole share.", _CAPSULE_POOL
    ),
    "capsule/room": Rule(
        "A claim gets all or nothing; a resource with nothing left is too little even for zero.", _CAPSULE_POOL
    ),
    "capsule/queue": Rule(
        "With orderedQueue a claim waits behind an older one that is short of the same resource.", _CAPSULE_POOL
    ),
    "capsule/managed-quota": Rule(
        "The quota in a namespace is the sum of its claims, and the defaults on top.", _CAPSULE_POOL
    ),
    "server/assumed": Rule("Versions and settings that nobody gave are those of a server as shipped.", _SUPPOSED),
    "server/feature-gate": Rule("A feature gate that nobody gave is as the version ships it.", _SUPPOSED),
    "start/live": Rule("Where no template is found, admission starts from the live pod.", _SUPPOSED),
    "file/unchecked": Rule("What is not checked of a file is taken as valid.", _SUPPOSED),
    "file/exists": Rule("An object of a file that exists already is changed by apply; create is refused.", _SUPPOSED),
    "file/taken-as-new": Rule("An object of a file that could not be looked up is taken as new.", _SUPPOSED),
    "claim/default-class": Rule(
        "A claim that names no storage class gets the newest of the default ones.",
        "plugin/pkg/admission/storage/storageclass/setdefault",
    ),
    "claim/taken-as-new": Rule("A volume claim that could not be looked up is taken as new.", _SUPPOSED),
    "policy/unparsable": Rule("A policy, or an overhead, with a quantity that does not parse is left out.", _SUPPOSED),
    "policy/refused": Rule("A policy of a file that the server would not store is left out.", _SUPPOSED),
    "quota/from-file": Rule("A quota of a file is enforced, with nothing used yet.", _SUPPOSED),
    "quota/no-status": Rule("A stored quota without a status enforces nothing yet.", _SUPPOSED),
    "class/unread": Rule("A class that is named and could not be read exists.", _SUPPOSED),
    "webhook/not-computed": Rule("What webhooks add to pods is not in the figures for today.", _SUPPOSED),
    "resize/node-unknown": Rule("A node that is not known has room, and can resize.", _SUPPOSED),
    **POLICY_RULES,
}
