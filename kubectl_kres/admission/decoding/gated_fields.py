"""Fields of a pod as sent that a server drops because it knows their feature not yet, or has it switched off."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.admission.base.server import Server
from kubectl_kres.model.raw import Raw, items, mapping, pointer, text

#: Sources of a projected volume, and the change of ``admission.base.versions`` without which the server drops them.
GATED_SOURCES: Mapping[str, str] = {
    "clusterTrustBundle": "volume/cluster-trust-bundle",
    "podCertificate": "volume/pod-certificate",
}


def without_gated(raw: Raw, server: Server) -> Raw:
    """The pod without claims, container restart policies and volumes of images that the server has not.

    The very same where the server knows all. Source: api/pod/util.go dropDisabledFields.
    """
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
    """A pod or template as sent, without volumes of images, what mounts them, and projected sources that are gated.

    Source: api/pod/util.go dropImageVolumes, dropDisabledClusterTrustBundleProjection.
    """
    raw = _with_known_sources(raw, server)
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


def _with_known_sources(raw: Raw, server: Server) -> Raw:
    spec = mapping(raw, "spec")
    unknown = {key for key, change in GATED_SOURCES.items() if not server.behaves(change)}
    sources = [part for volume in items(spec, "volumes") for part in items(mapping(volume, "projected"), "sources")]
    if not any(unknown & part.keys() for part in sources):
        return raw
    return {**raw, "spec": {**spec, "volumes": [_with_sources(item, unknown) for item in items(spec, "volumes")]}}


def _with_sources(volume: Raw, unknown: set[str]) -> Raw:
    projected = mapping(volume, "projected")
    if not projected:
        return volume
    kept = [{key: value for key, value in part.items() if key not in unknown} for part in items(projected, "sources")]
    return {**volume, "projected": {**projected, "sources": kept}}


def with_known_strategy(raw: Raw, server: Server) -> Raw:
    """A StatefulSet as sent without maxUnavailable where the server drops it; anything else as it is.

    Source: registry/apps/statefulset/strategy.go dropStatefulSetDisabledFields.
    """
    rolling = mapping(mapping(mapping(raw, "spec"), "updateStrategy"), "rollingUpdate")
    if (
        raw.get("kind") != "StatefulSet"
        or "maxUnavailable" not in rolling
        or server.behaves("statefulset/max-unavailable")
    ):
        return raw
    spec = mapping(raw, "spec")
    kept = {key: value for key, value in rolling.items() if key != "maxUnavailable"}
    return {**raw, "spec": {**spec, "updateStrategy": {**mapping(spec, "updateStrategy"), "rollingUpdate": kept}}}
