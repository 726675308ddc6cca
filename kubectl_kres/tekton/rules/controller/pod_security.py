"""Pod Security of the pods of runs: the security contexts that Task, run and Tekton write, against the namespace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from kubectl_kres.admission.base.outcome import Finding, Refusal, forbidden_object
from kubectl_kres.model.policy import Namespace
from kubectl_kres.policies.rules.pod_security import levels
from kubectl_kres.policies.rules.pod_security.levels import detail, standard_of
from kubectl_kres.policies.rules.pod_security.parts import Violation
from kubectl_kres.provenance.journal import Source
from kubectl_kres.tekton.model import PodTemplate, Sidecar, Step, TaskRun, TaskSpec, Volume
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.base.variables import variables_of
from kubectl_kres.tekton.rules.resources.containers import layout

ENFORCE = "pod-security.kubernetes.io/enforce"
RULE = "tekton/pod-security"
Raw = Mapping[str, Any]

#: What set-security-context gives to each container that Tekton adds. Source: pkg/pod/security_context_config.go.
LINUX: Raw = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
WINDOWS: Raw = {"runAsNonRoot": True}
#: Of a snapshot that did not keep what a security context says.
_HIDDEN = "hidden"


class SecuredPod(Struct, frozen=True):
    """The parts of a pod that Pod Security looks at.

    ``added``: the containers that Tekton adds. ``unknown``: those whose security context is not known; they are taken
    as sound.
    """

    spec: Raw
    added: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()


def enforces(namespace: Namespace | None) -> bool:
    """Return whether the namespace enforces a level that a pod can break."""
    return namespace is not None and (namespace.metadata.labels or {}).get(ENFORCE, "privileged") != "privileged"


def secured_pod(
    run: TaskRun, spec: TaskSpec, template: PodTemplate | None, flags: Flags, version: tuple[int, int]
) -> SecuredPod:
    """Return the pod of a run. ``template``: the run's with the default one; ``version``: the API server's.

    Source: pkg/pod/pod.go Build.
    """
    inits, containers = layout(spec, run.spec.debug, flags, version, variables_of(run.spec, spec))
    steps, sidecars = spec.steps or (), spec.sidecars or ()
    pod = template or PodTemplate()

    def container(name: str, role: str, number: int) -> dict[str, Any]:
        if name in unknown:
            return _container(name, LINUX)
        if role == "step":
            return _container(name, step_context(steps[number], spec.step_template))
        if role == "sidecar":
            return {**_container(name, sidecars[number].security_context), "ports": _ports(sidecars[number])}
        scripts = [*(step.script for step in steps), *(sidecar.script for sidecar in sidecars)]
        return _container(name, added_context(pod, flags, scripts if name == "place-scripts" else ()))

    unknown = tuple(
        place.name
        for group in (inits, containers)
        for place in group
        if (place.role == "step" and (steps[place.number].ref is not None or _is_hidden(steps[place.number])))
        or (place.role == "sidecar" and _is_hidden(sidecars[place.number]))
    )
    made = [[container(place.name, place.role, place.number) for place in group] for group in (inits, containers)]
    volumes = [*map(_volume, (*(spec.volumes or ()), *(pod.volumes or ())))]
    added = frozenset(place.name for group in (inits, containers) for place in group if place.role == "injected")
    return SecuredPod(
        {
            "securityContext": pod.security_context or {},
            "initContainers": made[0],
            "containers": made[1],
            "volumes": volumes,
            "hostNetwork": pod.host_network,
            **({} if pod.host_users is None else {"hostUsers": pod.host_users}),
        },
        added,
        unknown,
    )


def assistant_pod(template: PodTemplate | None, flags: Flags) -> SecuredPod:
    """Return the pod of an affinity assistant. Source: reconciler/pipelinerun/affinity_assistant.go."""
    pod = template or PodTemplate()
    own = [_container("affinity-assistant", added_context(pod, flags))]
    spec = {"securityContext": pod.security_context or {}, "initContainers": [], "containers": own}
    return SecuredPod(spec, frozenset({"affinity-assistant"}))


def added_context(template: PodTemplate, flags: Flags, scripts: Sequence[str] = ()) -> Raw | None:
    """Return the security context of a container that Tekton adds. ``scripts``: those that it puts in place."""
    if not flags.security_context:
        return None
    if scripts:
        return WINDOWS if any(script.startswith("#!win") for script in scripts) else LINUX
    return WINDOWS if (template.node_selector or {}).get("kubernetes.io/os") == "windows" else LINUX


def step_context(step: Step, template: Step | None) -> Raw | None:
    """Return a step's security context with what the step template adds, field by field; lists are the step's.

    Source: v1/merge.go MergeStepsWithStepTemplate.
    """
    under = template.security_context if template is not None else None
    if not under or not isinstance(under, Mapping):
        return _mapping(step.security_context)
    return _merged(_mapping(step.security_context) or {}, under)


def refusal(pod: SecuredPod, name: str, namespace: Namespace | None, minor: int) -> Refusal | None:
    """What the namespace says of a pod; None: nothing. ``minor``: the API server's minor version."""
    if namespace is None or not enforces(namespace):
        return None
    breaches = violations(pod, namespace, minor)
    if not breaches:
        return None
    level = standard_of(namespace.metadata.labels).enforce
    text = f'violates PodSecurity "{level}": {detail(breaches)}'
    source = Source("Namespace", namespace.metadata.name, field=f"metadata.labels[{ENFORCE}]")
    return forbidden_object("pods", name, (Finding(text, RULE, source=source),))


def violations(pod: SecuredPod, namespace: Namespace, minor: int) -> tuple[Violation, ...]:
    """Return what the pod does against the level that the namespace enforces."""
    level = standard_of(namespace.metadata.labels).enforce
    return levels.violations(level, {"metadata": {}, "spec": pod.spec}, minor)


def _is_hidden(part: Step | Sidecar) -> bool:
    return _HIDDEN in (_mapping(part.security_context) or {})


def _container(name: str, context: Any) -> dict[str, Any]:
    return {"name": name, "securityContext": _mapping(context) or {}}


def _ports(sidecar: Sidecar) -> list[Raw]:
    return (
        [port for port in sidecar.ports or () if isinstance(port, Mapping)] if isinstance(sidecar.ports, list) else []
    )


def _mapping(value: Any) -> Raw | None:
    return value if isinstance(value, Mapping) else None


def _merged(over: Raw, under: Raw) -> dict[str, Any]:
    result = {**under, **over}
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(under.get(key), Mapping):
            result[key] = _merged(value, under[key])
    return result


def _volume(volume: Volume) -> Raw:
    return dict(_fields(volume))


def _fields(volume: Volume) -> Iterator[tuple[str, Any]]:
    for field, name in zip(volume.__struct_fields__, volume.__struct_encode_fields__, strict=True):
        value = getattr(volume, field)
        if value is not None:
            yield name, value
