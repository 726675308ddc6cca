"""Rules without an edit of their own: what to do about those that refuse, and those that refuse nothing.

A test holds this against the catalogue of rules: every rule has a remedy, stands in ``BY_HAND`` with a sentence that
says what to change and so why no edit is computed, or refuses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

_OBJECT = "correct the policy itself at the field that the message names: only its author knows what it is for"
_STRUCTURE = "correct the field that the message names: it has nothing to do with resources, and any edit is a guess"
_FIXED = "the field cannot be changed on an object that exists: delete the object and create it again"
_POOL = "kubectl kres claims NAME lists what lets the claim in, each way simulated"

#: Rules that refuse, and what there is to do about them in a sentence: no edit can be computed.
BY_HAND: Mapping[str, str] = {
    "limitrange/object-type": _OBJECT,
    "limitrange/object-pod-defaults": _OBJECT,
    "limitrange/object-claim": _OBJECT,
    "limitrange/object-order": _OBJECT,
    "limitrange/object-ratio": _OBJECT,
    "quota/resource-name": _OBJECT,
    "quota/object-scope": _OBJECT,
    "quota/scopes-immutable": _FIXED,
    "validation/owner": _STRUCTURE,
    "validation/volume": _STRUCTURE,
    "validation/mount": _STRUCTURE,
    "validation/env": _STRUCTURE,
    "validation/reference": _STRUCTURE,
    "validation/probe": _STRUCTURE,
    "validation/security": _STRUCTURE,
    "validation/placing": _STRUCTURE,
    "validation/pod": _STRUCTURE,
    "validation/job": _STRUCTURE,
    "validation/rollout": _STRUCTURE,
    "pod/security-field": _STRUCTURE,
    "update/pod-containers": _FIXED,
    "update/pod-immutable": _FIXED,
    "update/immutable": _FIXED,
    "update/deadline": "a deadline of a pod that runs can only be shortened",
    "claim/immutable": _FIXED,
    "claim/shrunk": "a claim is never made smaller than it is: make a new one and copy the data",
    "claim/not-expandable": "its storage class does not let claims grow: make a new claim of another class",
    "tekton/exceeded-quota": "Tekton tries the pod again every minute: what the quota lacks is said with its refusal",
    "tekton/quota-conflict": "Tekton tries again after a second: nothing is to be changed",
    "tekton/pod-exists": "the pod is there already: nothing is to be changed",
    "tekton/pod-creation-failed": "what refused the pod is said with its refusal; then start a new run",
    "capsule/choice": "name a pool in spec.pool that serves the namespace and has all resources of the claim",
    "capsule/claim-amounts": "write amounts in spec.claim, if only 0",
    "capsule/immutable": "a claim in use keeps its amounts and its pool: make a further claim",
    "capsule/delete-used": "a claim in use is released, not deleted",
    "capsule/shrink-claimed": "give claims of the pool back first, or keep the resource as it is",
    "capsule/remove-claimed": "give claims of the pool back first, or keep the resource as it is",
    "capsule/pool-named": _POOL,
    "capsule/pool-exists": "name a pool that exists (kubectl get resourcepools), or create it",
    "capsule/namespace-selected": "name a pool that selects the namespace, or let its selector match",
    "capsule/resource-in-pool": "name a pool that has all resources of the claim, or add them to the pool",
    "capsule/pool-name": "give the pool a name without dots, of at most 63 characters",
    "capsule/changed": _POOL,
    "capsule/room": _POOL,
    "capsule/queue": _POOL,
    "namespace/mismatch": "write one namespace: that of the object and that of the request differ",
    "file/exists": "name it otherwise, or apply it: create takes no name that is taken",
    "namespace/immortal": "the namespaces default, kube-system and kube-public are never deleted",
    "pod-security/label": "write privileged, baseline or restricted at the label that the message names",
    "policy/invalid": _OBJECT,
    "validation/autoscaler": _STRUCTURE,
}

#: Rules that set, sum up or suppose something, and refuse nothing.
REFUSE_NOTHING: frozenset[str] = frozenset({
    "manifest/written", "quantity/canonical", "defaulting/request-from-limit", "pod-level/request-from-containers",
    "pod-level/request-from-limit", "pod-level/hugepages-limit", "pod-level/dropped",
    "pod-level/limit-from-containers", "pod-level/limit-from-request", "limitrange/default",
    "limitrange/default-request", "limitrange/default-from-max", "limitrange/default-request-from-default",
    "limitrange/default-request-from-min", "limitrange/annotation", "priority/global-default",
    "runtime-class/overhead", "pod/sum", "pod/init-peak", "pod/pod-level", "qos/class", "qos/brought",
    "cgroup/cpu-weight", "cgroup/cpu-quota", "cgroup/memory", "cgroup/hugetlb", "cgroup/swap", "cgroup/memory-qos",
    "tekton/step", "tekton/step-template", "tekton/step-spec", "tekton/sidecar", "tekton/sidecar-spec",
    "tekton/task-level-limit", "tekton/task-level-request", "tekton/task-level-request-from-limit",
    "tekton/task-level-dropped", "tekton/config-default-named", "tekton/config-default-prefix",
    "tekton/config-default", "tekton/limitrange-share", "tekton/shared-entry", "tekton/built-in",
    "tekton/pod-security-unknown", "tekton/config-unknown", "tekton/config-unreadable", "tekton/older",
    "tekton/too-old", "tekton/orders-not-all", "tekton/step-action-unknown", "capsule/kept", "capsule/managed-quota",
    "server/assumed", "server/feature-gate", "start/live", "file/unchecked", "file/taken-as-new",
    "claim/default-class", "claim/taken-as-new", "policy/unparsable", "policy/refused", "quota/from-file",
    "quota/no-status", "class/unread", "webhook/not-computed", "resize/node-unknown", "policy/mutated",
    "pod-security/exemptions", "seen/added-on-create", "capsule/rule-default", "capsule/rule-remove",
    "capsule/rule-match-request", "capsule/rule-ratio", "capsule/rule-pod-requests", "capsule/rule-unknown",
    "capsule/version",
})  # fmt: skip
