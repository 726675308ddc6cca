"""Pod Security, as far as it concerns a pod whose containers say nothing of their security: most of Tekton's."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_kres.admission.base.outcome import Finding, Refusal, forbidden_object
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.policy import Namespace
from kubectl_kres.model.tekton import PodTemplate, TaskSpec
from kubectl_kres.provenance.journal import Source

ENFORCE = "pod-security.kubernetes.io/enforce"
VERSION = "pod-security.kubernetes.io/enforce-version"


def refusal(pod: Pod, namespace: Namespace | None) -> Refusal | None:
    """What a namespace that enforces ``restricted`` says of a pod without any security context.

    None: no level that such a pod breaks, or the namespace is not known. Of several containers all are named, init
    containers first. Source: k8s.io/pod-security-admission/policy check_*.go.
    """
    if namespace is None or not enforces(namespace):
        return None
    labels = namespace.metadata.labels or {}
    names = [container.name for container in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))]
    level = f"restricted:{labels.get(VERSION) or 'latest'}"
    text = f'violates PodSecurity "{level}": {", ".join(_breaches(names))}'
    source = Source("Namespace", namespace.metadata.name, field=f"metadata.labels[{ENFORCE}]")
    return forbidden_object("pods", pod.metadata.name, (Finding(text, "tekton/pod-security", source=source),))


def enforces(namespace: Namespace | None) -> bool:
    """Whether the namespace enforces the level that Tekton's pods break."""
    return namespace is not None and (namespace.metadata.labels or {}).get(ENFORCE) == "restricted"


def is_bare(spec: TaskSpec, template: PodTemplate | None) -> bool:
    """Whether neither the pod nor a container of it has a security context that the Task or the run wrote."""
    written = [template.security_context if template is not None else None]
    written += [step.security_context for step in (*(spec.steps or ()), spec.step_template) if step is not None]
    written += [sidecar.security_context for sidecar in spec.sidecars or ()]
    return not any(written)


def _breaches(names: Sequence[str]) -> list[str]:
    word = "containers" if len(names) > 1 else "container"
    quoted = ", ".join(f'"{name}"' for name in names)
    who = f"{word} {quoted}"
    profiles = '"RuntimeDefault" or "Localhost"'
    return [
        f"allowPrivilegeEscalation != false ({who} must set securityContext.allowPrivilegeEscalation=false)",
        f'unrestricted capabilities ({who} must set securityContext.capabilities.drop=["ALL"])',
        f"runAsNonRoot != true (pod or {who} must set securityContext.runAsNonRoot=true)",
        f"seccompProfile (pod or {who} must set securityContext.seccompProfile.type to {profiles})",
    ]
