"""The catalogue of Capsule's rules, by their codes."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.provenance.catalogued_rule import SUPPOSED, CataloguedRule, CodeAdvice

_POOL = "capsule internal/controllers/resourcepools/pool_controller.go"
_CLAIM = "capsule internal/controllers/resourcepools/claim_controller.go"
_HOOKS = "capsule internal/webhook/resourcepool"
_MUTATION = "capsule internal/webhook/rules/generic/mutation/workload_resources.go"
_PODS = "capsule internal/webhook/rules/pods/validation"
_DEFAULTS = "capsule internal/webhook/defaults"
_LISTS = "capsule internal/webhook/pod, internal/webhook/pvc"
_NAMESPACES = "capsule internal/webhook/namespace/validation"
_SERVICES = "capsule internal/webhook/service/validating.go"
_INGRESSES = "capsule internal/webhook/ingress"
_DEVICES = "capsule internal/webhook/dra/validate.go"
_EACH_WAY = "kubectl kres claims NAME lists what lets the claim in, each way simulated"

RULES: Mapping[str, CataloguedRule] = {
    "capsule/choice": CataloguedRule(
        "A claim without a pool gets one that has all its resources, one with room first; of equals any.",
        _HOOKS,
        by_hand="name a pool in spec.pool that serves the namespace and has all resources of the claim",
    ),
    "capsule/claim-amounts": CataloguedRule(
        "A claim states amounts, if only none.", _HOOKS, by_hand="write amounts in spec.claim, if only 0"
    ),
    "capsule/immutable": CataloguedRule(
        "A claim in use changes neither its amounts nor its pool.",
        _HOOKS,
        by_hand="a claim in use keeps its amounts and its pool: make a further claim",
    ),
    "capsule/delete-used": CataloguedRule(
        "A claim in use is not deleted.", _HOOKS, by_hand="a claim in use is released, not deleted"
    ),
    "capsule/shrink-claimed": CataloguedRule(
        "A pool does not shrink below what is claimed.",
        _HOOKS,
        by_hand="give claims of the pool back first, or keep the resource as it is",
    ),
    "capsule/remove-claimed": CataloguedRule(
        "A resource that is claimed stays in its pool.",
        _HOOKS,
        by_hand="give claims of the pool back first, or keep the resource as it is",
    ),
    "capsule/pool-named": CataloguedRule("A claim names a pool.", _CLAIM, by_hand=_EACH_WAY),
    "capsule/pool-exists": CataloguedRule(
        "The named pool exists.",
        _CLAIM,
        by_hand="name a pool that exists (kubectl get resourcepools{flags}), or create it",
    ),
    "capsule/namespace-selected": CataloguedRule(
        "The pool lists the claim's namespace in its status and is not being deleted.",
        _CLAIM,
        by_hand="name a pool that selects the namespace, or let its selector match",
    ),
    "capsule/resource-in-pool": CataloguedRule(
        "The pool has each resource that the claim names.",
        _CLAIM,
        by_hand="name a pool that has all resources of the claim, or add them to the pool",
    ),
    "capsule/pool-name": CataloguedRule(
        "A pool that claims can belong to has no dot in its name, and at most 63 characters.",
        _CLAIM,
        by_hand="give the pool a name without dots, of at most 63 characters",
    ),
    "capsule/kept": CataloguedRule(
        "A share that was given stays as long as the claim does not change.", _POOL, refuses=False
    ),
    "capsule/changed": CataloguedRule(
        "The old amounts of a changed claim count as room; what does not fit then loses the whole share.",
        _POOL,
        by_hand=_EACH_WAY,
    ),
    "capsule/room": CataloguedRule(
        "A claim gets all or nothing; a resource with nothing left is too little even for zero.",
        _POOL,
        by_hand=_EACH_WAY,
    ),
    "capsule/queue": CataloguedRule(
        "With orderedQueue a claim waits behind an older one that is short of the same resource.",
        _POOL,
        by_hand=_EACH_WAY,
    ),
    "capsule/managed-quota": CataloguedRule(
        "The quota in a namespace is the sum of its claims, and the defaults on top.", _POOL, refuses=False
    ),
    "capsule/class-default": CataloguedRule(
        "A Tenant gives a priority, runtime or storage class that nobody named, or instead of the cluster's default.",
        _DEFAULTS,
    ),
    "capsule/class-allowed": CataloguedRule("The class is one that the Tenant allows.", _LISTS),
    "capsule/registry": CataloguedRule("Images come from registries that the Tenant allows.", _LISTS),
    "capsule/pull-policy": CataloguedRule("Pull policies are among those that the Tenant allows.", _LISTS),
    "capsule/bad-pattern": CataloguedRule("A pattern of the Tenant compiles; else nothing passes.", _LISTS),
    "capsule/storage-class-missing": CataloguedRule(
        "Where the Tenant has a default storage class, a named one exists: else the webhook fails.", _DEFAULTS
    ),
    "capsule/volume": CataloguedRule("A volume that a claim names has the label of its Tenant.", _LISTS),
    "capsule/volume-selector": CataloguedRule("Before 0.13 a claim selects no volumes.", _LISTS),
    "capsule/count": CataloguedRule(
        "There are at most as many objects of a resource as an annotation of the Tenant says, up to 511.",
        "capsule internal/webhook/generic/custom_resource_quota.go",
    ),
    "capsule/namespaces": CataloguedRule("A Tenant has at most so many namespaces.", _NAMESPACES),
    "capsule/service-type": CataloguedRule("Services are of types that the Tenant allows.", _SERVICES),
    "capsule/service-metadata": CataloguedRule("Services have no label or annotation that is forbidden.", _SERVICES),
    "capsule/external-ip": CataloguedRule("External addresses are of networks that the Tenant allows.", _SERVICES),
    "capsule/hostname": CataloguedRule("Hosts of Ingresses are among those that the Tenant allows.", _INGRESSES),
    "capsule/hostname-empty": CataloguedRule("Where hosts are limited, each rule of an Ingress has one.", _INGRESSES),
    "capsule/wildcard": CataloguedRule("Hosts have no wildcard, unless the Tenant allows it.", _INGRESSES),
    "capsule/device-class-missing": CataloguedRule("Where device classes are limited, a named one exists.", _DEVICES),
    "capsule/device-alternatives": CataloguedRule(
        "Where device classes are limited, the webhook fails on alternatives.", _DEVICES
    ),
    "capsule/node-selector": CataloguedRule(
        "A Tenant keeps the node selector that the plugin PodNodeSelector gives to pods.",
        "capsule pkg/utils/node_selector.go",
        refuses=False,
    ),
    "capsule/cordoned": CataloguedRule(
        "Of a cordoned Tenant its users create, change and delete nothing; controllers go on.",
        "capsule internal/webhook/generic/cordoning.go",
        refuses=False,
    ),
    "capsule/rule-default": CataloguedRule(
        "A rule of the Tenant gives a request or limit that nobody set.", _MUTATION, refuses=False
    ),
    "capsule/rule-remove": CataloguedRule(
        "A rule of the Tenant takes a request or limit out.", _MUTATION, refuses=False
    ),
    "capsule/rule-match-request": CataloguedRule(
        "A rule of the Tenant makes a limit equal to its request.", _MUTATION, refuses=False
    ),
    "capsule/rule-ratio": CataloguedRule(
        "A rule of the Tenant makes a missing limit of its request, times a factor.", _MUTATION, refuses=False
    ),
    "capsule/rule-pod-requests": CataloguedRule(
        "Where rules of the Tenant changed a pod with a pod level, its missing requests are the containers' sums.",
        _MUTATION,
        refuses=False,
    ),
    "capsule/rule-resources": CataloguedRule(
        "Requests and limits are as the rules of the Tenant want them; of rules that decide the last one wins.",
        _PODS,
    ),
    "capsule/rule-qos": CataloguedRule("The QoS class is one that the rules of the Tenant allow.", _PODS),
    "capsule/rule-unknown": CataloguedRule(
        "A part of a rule that is not known, or not computed, is named.", SUPPOSED, refuses=False
    ),
    "capsule/version": CataloguedRule(
        "What another version of Capsule does otherwise is named.", SUPPOSED, refuses=False
    ),
}

#: What to do about its refusals where the edit depends on the object, by the beginning of their codes.
ADVICE: Mapping[str, CodeAdvice] = {
    "capsule/": CodeAdvice(
        "use what the Tenant allows, as the message names it, or have its owner allow more", "policy-refuses"
    )
}
