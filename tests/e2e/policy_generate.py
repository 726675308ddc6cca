"""Generated admission policies about pods' resources with their bindings, and the pods that they are asked about."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

from e2e import manifests, pods, policy_comparisons
from e2e.policy_expressions import Expressions
from e2e.policy_library import AMOUNTS, CHECKS, CONDITIONS, MESSAGES, OF_VARIABLES, VARIABLES, filled

Object = dict[str, Any]
API = "admissionregistration.k8s.io/v1"
#: A pod with this label is asked about the policies of that group, and about no others.
GROUP = "example.com/group"
#: How many of the checks and patches are about comparisons of different kinds.
COMPARED = 0.12
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]

#: Patches of one container or the whole pod, as libraries of mutations have them.
PATCHES = (
    "[JSONPatch{op: 'add', path: '/spec/containers/0/resources/limits', value: {'{plain}': '{amount}'}}]",
    "[JSONPatch{op: 'add', path: '/spec/containers/0/resources/requests', value: {'{plain}': '{amount}'}}]",
    "[JSONPatch{op: 'replace', path: '/spec/containers/0/resources/limits/{plain}', value: '{amount}'}]",
    "[JSONPatch{op: 'add', path: '/spec/containers/0/resources/limits/{plain}', value: '{amount}'}]",
    "[JSONPatch{op: 'remove', path: '/spec/containers/0/resources/limits'}]",
    "[JSONPatch{op: 'remove', path: '/spec/containers/0/resources'}]",
    (
        "[JSONPatch{op: 'test', path: '/spec/containers/0/name', value: 'c0'}, "
        "JSONPatch{op: 'add', path: '/metadata/labels/mutated', value: 'yes'}]"
    ),
    "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': '{amount}'}}]",
    "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/a~b'), value: 'x'}]",
    (
        "[JSONPatch{op: 'add', path: '/spec/containers/-', value: {'name': 'proxy', 'image': 'proxy:1', "
        "'resources': {'limits': {'{plain}': '{amount}'}}}}]"
    ),
    "[JSONPatch{op: 'add', path: '/spec/containers/0', value: {'name': 'first', 'image': 'first'}}]",
    "[JSONPatch{op: 'add', path: '/spec/containers/-', value: Object.spec.containers{name: 'typed', image: 'ty:1'}}]",
    *(
        f"[JSONPatch{{op: '{op}', from: '/spec/containers/0/resources/limits', "
        "path: '/spec/containers/0/resources/requests'}]"
        for op in ("copy", "move")
    ),
    (
        "object.spec.containers.filter(c, !has(c.resources.limits)).map(c, JSONPatch{op: 'add', path: "
        "'/spec/containers/0/resources/limits', value: {'memory': '{amount}'}})"
    ),
    (
        "object.spec.containers.transformList(i, c, !has(c.resources.limits), JSONPatch{op: 'add', path: "
        "'/spec/containers/' + string(i) + '/resources/limits', value: {'{plain}': '{amount}'}})"
    ),
    (
        "object.spec.containers.transformList(i, c, JSONPatch{op: 'replace', path: '/spec/containers/' + string(i) + "
        "'/image', value: '{registry}' + c.image})"
    ),
    "[JSONPatch{op: 'add', path: '/spec/resources', value: {'limits': {'{plain}': '{amount}'}}}]",
    "[JSONPatch{op: 'replace', path: '/spec/terminationGracePeriodSeconds', value: {count}}]",
    "[JSONPatch{op: 'add', path: '/spec/hostNetwork', value: true}]",
    "[JSONPatch{op: 'add', path: '/spec/nodeSelector', value: {'a': 'b'}}]",
    "[JSONPatch{op: 'add', path: '/spec/tolerations/-', value: {'key': 'k', 'operator': 'Exists'}}]",
    "[JSONPatch{op: 'add', path: '/spec/nothing', value: {count}}]",
    "[JSONPatch{op: 'add', path: '/spec/containers/0/resources/limits', value: {'cpu': {count}}}]",
    "[JSONPatch{op: 'add', path: '/spec/containers/7/name', value: 'x'}]",
    "[JSONPatch{op: 'replace', path: '/spec/containers/0/name', value: 'Not A Name'}]",
    (
        "has(object.spec.containers[0].resources.limits) ? [] : [JSONPatch{op: 'add', path: "
        "'/spec/containers/0/resources', value: {'limits': {'{plain}': '{amount}'}, "
        "'requests': {'{plain}': '{more}'}}}]"
    ),
    "[JSONPatch{op: 'add', path: '/spec/containers/0/env', value: [{'name': 'A', 'value': object.metadata.name}]}]",
    "[JSONPatch{op: 'add', path: '/spec/containers/0/securityContext', value: {'runAsNonRoot': true}}]",
    "[JSONPatch{op: 'add', path: '/spec/volumes', value: [{'name': 'v', 'emptyDir': {'sizeLimit': '{amount}'}}]}]",
    (
        "[JSONPatch{op: 'add', path: '/spec/initContainers', value: [{'name': 'init', 'image': 'init', "
        "'restartPolicy': 'Always', 'resources': {'{side}': {'{plain}': '{amount}'}}}]}]"
    ),
)
#: Configurations that are merged in.
CONFIGURATIONS = (
    (
        "Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, "
        "resources: Object.spec.containers.resources{limits: {'{plain}': '{amount}'}}})}}"
    ),
    (
        "Object{spec: Object.spec{containers: object.spec.containers.filter(c, !has(c.resources.{side})).map(c, "
        "Object.spec.containers{name: c.name, resources: Object.spec.containers.resources{{side}: {'{plain}': "
        "'{amount}'}}})}}"
    ),
    (
        "Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'mesh', image: 'mesh:1', "
        "restartPolicy: 'Always', resources: Object.spec.initContainers.resources{{side}: {'{plain}': '{amount}'}}}]}}"
    ),
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'side', image: 'side'}]}}",
    "Object{metadata: Object.metadata{labels: {'mutated': '{count}'}}}",
    "Object{metadata: Object.metadata{annotations: {'a': 'b', 'policy': '{amount}'}}}",
    "Object{spec: Object.spec{resources: Object.spec.resources{limits: {'{plain}': '{amount}'}}}}",
    "Object{spec: Object.spec{terminationGracePeriodSeconds: {count}}}",
    "Object{spec: Object.spec{hostNetwork: true}}",
    "Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: 'k'}]}}",
    "Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}",
    (
        "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c0', image: 'changed:1', ports: "
        "[Object.spec.containers.ports{containerPort: 80 + {count}}]}]}}"
    ),
    (
        "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c0', env: "
        "[Object.spec.containers.env{name: 'A', value: 'b'}]}]}}"
    ),
    "Object{spec: Object.spec{containers: [Object.spec.containers{image: 'nameless'}]}}",
    "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c0', args: ['a']}]}}",
    (
        "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c0', resources: "
        "Object.spec.containers.resources{limits: {'cpu': {count}}}}]}}"
    ),
    "Object{spec: Object.spec{nothing: 'x'}}",
    "Object{spec: Object.spec{containers: [Object.spec.initContainers{name: 'c0'}]}}",
    "Object{spec: Object.spec{priorityClassName: 'high'}}",
    "has(object.spec.hostNetwork) ? Object{} : Object{spec: Object.spec{?hostPID: optional.of(false)}}",
    "Object{spec: Object.spec{securityContext: Object.spec.securityContext{runAsNonRoot: true, runAsUser: 1000}}}",
    (
        "Object{spec: Object.spec{volumes: [Object.spec.volumes{name: 'v', emptyDir: Object.spec.volumes.emptyDir{"
        "sizeLimit: '{amount}'}}]}}"
    ),
)


def policy(kind: str, name: str, spec: Object, binding: Object | None = None, group: str = "") -> list[Object]:
    """A policy and its binding, which only pods of its group see."""
    selector = {"matchLabels": {GROUP: group or name}}
    metadata = {"name": name}
    bound = {"policyName": name, "matchResources": {"objectSelector": selector}, **(binding or {})}
    if kind.startswith("V"):
        bound.setdefault("validationActions", ["Deny"])
    spec = {"matchConstraints": {"resourceRules": RULES, "objectSelector": selector}, **spec}
    return [
        {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec},
        {"apiVersion": API, "kind": f"{kind}Binding", "metadata": metadata, "spec": bound},
    ]


def groups(seed: object, count: int) -> Iterator[tuple[str, list[Object]]]:
    """Names of groups with their policies and bindings: checks of libraries first, random ones after them."""
    rng = random.Random(f"{seed}/policies")
    for index in range(count):
        name = f"g{index}"
        chance = rng.random()
        if chance < 0.62:
            yield name, validating(rng, name, index)
        elif chance < 0.92:
            yield name, mutating(rng, name)
        else:
            members = [mutating(rng, f"{name}-a", name), validating(rng, f"{name}-b", index, name)]
            yield name, [*members[0], *members[1]]


def validating(rng: random.Random, name: str, index: int, group: str = "") -> list[Object]:
    variables = _variables(rng)
    names = [one["name"] for one in variables]
    texts = [_check(rng, names, index + offset) for offset in range(rng.choice((1, 1, 1, 2)))]
    validations: list[Object] = [{"expression": text} for text in texts]
    for one in validations:
        if rng.random() < 0.3:
            one["message"] = rng.choice(("too much", "limits, please", " spaced ", "é <b>"))
        if rng.random() < 0.35:
            one["messageExpression"] = (
                rng.choice(MESSAGES) if rng.random() < 0.7 else Expressions(rng, names).of("text", 2)
            )
        if rng.random() < 0.3:
            one["reason"] = rng.choice(("Forbidden", "Invalid", "RequestEntityTooLarge"))
    spec: Object = {"validations": validations, **_common(rng, variables)}
    actions = rng.choice((["Deny"], ["Deny"], ["Deny"], ["Warn"], ["Deny", "Audit"], ["Warn", "Audit"]))
    return policy("ValidatingAdmissionPolicy", name, spec, {"validationActions": actions}, group)


def _check(rng: random.Random, names: list[str], index: int) -> str:
    if index < len(CHECKS):
        return filled(CHECKS[index], rng)
    if rng.random() < COMPARED:
        return policy_comparisons.comparison(rng)
    if names and rng.random() < 0.3:
        known = [text for text in OF_VARIABLES if all(word in names for word in _used(text))]
        if known:
            return filled(rng.choice(known), rng)
    if rng.random() < 0.35:
        return filled(rng.choice(CHECKS), rng)
    return Expressions(rng, names).of("bool", rng.choice((1, 2, 2, 3)))


def _used(text: str) -> list[str]:
    return [part.split(".")[0].split("[")[0].split(" ")[0].split(")")[0] for part in text.split("variables.")[1:]]


def _variables(rng: random.Random) -> list[Object]:
    if rng.random() < 0.7:
        return []
    chosen = rng.sample(VARIABLES, rng.randint(1, 4))
    found = [{"name": name, "expression": text} for name, text in chosen]
    if rng.random() < 0.3:
        names = [one["name"] for one in found]
        found.append({"name": "more", "expression": Expressions(rng, names).of("any", 2)})
    return found


def _common(rng: random.Random, variables: list[Object]) -> Object:
    found: Object = {"variables": variables} if variables else {}
    if rng.random() < 0.3:
        found["failurePolicy"] = rng.choice(("Ignore", "Fail"))
    if rng.random() < 0.25:
        texts = rng.sample(CONDITIONS, rng.randint(1, 2))
        found["matchConditions"] = [{"name": f"m{place}", "expression": text} for place, text in enumerate(texts)]
    return found


def mutating(rng: random.Random, name: str, group: str = "") -> list[Object]:
    mutations = [_mutation(rng) for _ in range(rng.choice((1, 1, 1, 2)))]
    spec = {
        "mutations": mutations, "reinvocationPolicy": rng.choice(("Never", "IfNeeded")),
        **_common(rng, _variables(rng) if rng.random() < 0.3 else []),
    }  # fmt: skip
    return policy("MutatingAdmissionPolicy", name, spec, None, group)


def _mutation(rng: random.Random) -> Object:
    if rng.random() < 0.5:
        return {"patchType": "JSONPatch", "jsonPatch": {"expression": _patch(rng)}}
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": _configuration(rng)}}


def _patch(rng: random.Random) -> str:
    if rng.random() < COMPARED:
        return f"[JSONPatch{{op: 'add', path: '/metadata/annotations', value: {policy_comparisons.value(rng)}}}]"
    if rng.random() < 0.7:
        return filled(rng.choice(PATCHES), rng)
    make = Expressions(rng)
    place = rng.choice(("0/resources/limits/cpu", "0/resources/requests", "0/resources/limits", "0/image", "1/name"))
    kind = "map" if place.endswith("s") else "text"
    value = make.of(kind, 2)
    op = rng.choice(("add", "add", "replace"))
    return f"[JSONPatch{{op: '{op}', path: '/spec/containers/{place}', value: {value}}}]"


def _configuration(rng: random.Random) -> str:
    if rng.random() < 0.75:
        return filled(rng.choice(CONFIGURATIONS), rng)
    make = Expressions(rng)
    side = rng.choice(("limits", "requests"))
    amount = make.of("text", 1) if rng.random() < 0.5 else f"'{rng.choice(AMOUNTS)}'"
    return (
        "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c0', resources: "
        f"Object.spec.containers.resources{{{side}: {{'{rng.choice(('cpu', 'memory'))}': {amount}}}}}}}]}}}}"
    )


def asked(seed: object, count: int) -> list[Object]:
    """Pods as charts have them, bare ones, and some that are refused anyway."""
    rng = random.Random(f"{seed}/pods")
    found = []
    for index in range(count):
        name, chance = f"p{index}", rng.random()
        pod = (
            pods.shape(rng, name) if chance < 0.5
            else manifests.pod(rng, name) if chance < 0.8
            else pods.plain_pod(rng, name) if chance < 0.9
            else pods.pod(rng, name)
        )  # fmt: skip
        if rng.random() < 0.4:
            labels = {"app": "x", "team": rng.choice(("a", "é", ""))}
            pod["metadata"].setdefault("labels", {}).update(rng.choice(({"app": "x"}, labels)))
        found.append(pod)
    return found


def grouped(pod: Object, group: str) -> Object:
    """The pod with the label of the group."""
    pod = copy.deepcopy(pod)
    metadata = pod.setdefault("metadata", {})
    metadata["labels"] = {**(metadata.get("labels") or {}), GROUP: group}
    return pod
