"""Fields of a pod that a server drops because it knows their feature not yet, or has it switched off."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.pod import Container, Pod
from kubectl_kres.model.raw import Raw, items, mapping, pointer, text


def without_unknown(pod: Pod, server: Server) -> Pod:
    """The pod without claims and container restart policies where the server has none; the very same where it does.

    Pod-level resources are dropped with the draft, which records it. An update keeps what the stored pod has; that a
    gate was switched off since is not looked at. Source: api/pod/util.go dropDisabledFields.
    """
    claims, rules = server.on("DynamicResourceAllocation"), server.on("ContainerRestartRules")
    if claims and rules:
        return pod
    spec = pod.spec
    return structs.replace(
        pod,
        spec=structs.replace(
            spec,
            resource_claims=spec.resource_claims if claims else None,
            containers=_kept(spec.containers, claims=claims, rules=rules),
            init_containers=_kept(spec.init_containers, claims=claims, rules=rules, init=True),
        ),
    )


def _kept(
    containers: tuple[Container, ...] | None, *, claims: bool, rules: bool, init: bool = False
) -> tuple[Container, ...] | None:
    if containers is None:
        return None
    result = containers
    if not claims:
        result = tuple(
            structs.replace(container, resources=structs.replace(container.resources, claims=None))
            if container.resources
            else container
            for container in result
        )
    if not rules:
        result = tuple(
            container
            if init and container.restart_policy == "Always"
            else structs.replace(container, restart_policy=None)
            for container in result
        )
    return result


def without_gated(raw: Raw, server: Server) -> Raw:
    """The same of a pod as JSON has it, volumes of images included; the very same where the server knows all."""
    raw = with_known_volumes(raw, server)
    claims, rules = server.on("DynamicResourceAllocation"), server.on("ContainerRestartRules")
    if claims and rules:
        return raw
    kept = dict(mapping(raw, "spec"))
    if not claims:
        kept.pop("resourceClaims", None)
    for key in ("containers", "initContainers"):
        if isinstance(kept.get(key), list):
            kept[key] = [_kept_raw(item, claims=claims, rules=rules, init=key != "containers") for item in kept[key]]
    return {**raw, "spec": kept}


def _kept_raw(raw: Raw, *, claims: bool, rules: bool, init: bool) -> Raw:
    kept = dict(raw)
    if not claims and "claims" in mapping(raw, "resources"):
        kept["resources"] = {key: value for key, value in mapping(raw, "resources").items() if key != "claims"}
    if not rules:
        kept.pop("restartPolicyRules", None)
        if not (init and raw.get("restartPolicy") == "Always"):
            kept.pop("restartPolicy", None)
    return kept


def with_known_volumes(raw: Raw, server: Server) -> Raw:
    """A pod or template as sent, without volumes of images and what mounts them where the server knows none.

    Source: api/pod/util.go dropImageVolumes.
    """
    spec = mapping(raw, "spec")
    names = {text(item, "name") for item in items(spec, "volumes") if pointer(item, "image") is not None}
    if server.on("ImageVolume") or not names:
        return raw
    kept = {**spec, "volumes": [item for item in items(spec, "volumes") if pointer(item, "image") is None]}
    for key in ("containers", "initContainers", "ephemeralContainers"):
        if isinstance(spec.get(key), list):
            kept[key] = [
                {
                    **item,
                    "volumeMounts": [
                        mount for mount in items(item, "volumeMounts") if text(mount, "name") not in names
                    ],
                }
                for item in items(spec, key)
            ]
    return {**raw, "spec": kept}
