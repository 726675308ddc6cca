"""Validation of volumes, of their projected sources, and of the spec of a PersistentVolumeClaim as sent, beside its
size.

Names of signers, selectors and annotations are taken as valid where they are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kubectl_kres.admission.base.draft import fraction, parse_list
from kubectl_kres.admission.base.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    number,
    required,
    too_long,
)
from kubectl_kres.admission.base.resource_names import label_faults, subdomain_faults
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.text_rules import backstep_errors, descending_errors, local_errors
from kubectl_kres.admission.decoding import GATED_SOURCES
from kubectl_kres.admission.structure import reference_structure as references
from kubectl_kres.admission.structure.metadata_structure import tag_errors
from kubectl_kres.admission.structure.placing_structure import selector_errors
from kubectl_kres.errors import QuantityError
from kubectl_kres.model.objects import Raw, integer, items, mapping, pointer, text
from kubectl_kres.quantity import Quantity, from_json

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ALONE = "ReadWriteOncePod"
_RULE = "validation/claim"


def claim_errors(spec: Raw, server: Server, path: str = "spec") -> Iterator[FieldError]:
    """Source: validation.go ValidatePersistentVolumeClaimSpec; what another kind of source holds is taken as valid."""
    yield from _volume_mode_errors(spec.get("accessModes"), f"{path}.accessModes")
    mode = spec.get("volumeMode")
    if isinstance(mode, str) and mode not in {"Block", "Filesystem"}:
        yield not_supported(f"{path}.volumeMode", mode, ("Block", "Filesystem"), _RULE)
    yield from selector_errors(pointer(spec, "selector"), f"{path}.selector", _RULE)
    yield from _data_source_errors(spec, path)
    for key in ("storageClassName", "volumeAttributesClassName"):
        name = spec.get(key)
        if isinstance(name, str) and name and (key == "storageClassName" or server.is_enabled("VolumeAttributesClass")):
            yield from (invalid(f"{path}.{key}", name, fault, _RULE) for fault in subdomain_faults(name))


def _data_source_errors(spec: Raw, path: str) -> Iterator[FieldError]:
    """Of what a claim begins with. Source: validation.go validateDataSource, validateDataSourceRef."""
    old, new = pointer(spec, "dataSource"), pointer(spec, "dataSourceRef")
    for key, source in (("dataSource", old), ("dataSourceRef", new)):
        if source is None:
            continue
        group, kind = text(source, "apiGroup"), text(source, "kind")
        yield from (required(f"{path}.{key}.{name}", rule=_RULE) for name in ("name", "kind") if not text(source, name))
        if not group and kind != "PersistentVolumeClaim":
            detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            yield invalid(f"{path}.{key}", kind, detail, _RULE)
        faults = subdomain_faults(group) if group else ()
        yield from (invalid(f"{path}.{key}.apiGroup", group, fault, _RULE) for fault in faults)


def size_errors(size: Quantity | None, path: str = "spec") -> Iterator[FieldError]:
    """Of what is requested of ``storage``; None: nothing. Source: validation.go ValidatePersistentVolumeClaimSpec."""
    item_path, rule = f"{path}.resources[storage]", "validation/claim-size"
    if size is None:
        yield required(item_path, rule=rule, resource="storage")
    elif size.nano <= 0:
        yield invalid(item_path, size, "must be greater than zero", rule)


def template_errors(raw: Raw, server: Server) -> Iterator[FieldError]:
    """Of the claims that a StatefulSet makes. Source: apps/validation validateVolumeClaimTemplates."""
    for index, inner in _templates(raw):
        path = f"spec.volumeClaimTemplates[{index}].spec"
        requests = (inner.get("resources") or {}).get("requests")
        yield from claim_errors(inner, server, path)
        yield from size_errors(parse_list(requests, f"{path}.resources.requests").get("storage"), path)


def claim_warnings(raw: Raw) -> Iterator[str]:
    """Of the same claims. Source: registry/apps/statefulset strategy.go WarningsOnCreate."""
    for index, inner in _templates(raw) if raw.get("kind") == "StatefulSet" else ():
        for side in ("requests", "limits"):
            path = f"spec.volumeClaimTemplates[{index}].resources.{side}"
            storage = parse_list((inner.get("resources") or {}).get(side), path).get("storage")
            if storage is not None:
                yield from fraction(f"{path}[storage]", storage)


def _templates(raw: Raw) -> Iterator[tuple[int, Raw]]:
    """Yield the spec of each, with its place."""
    spec = raw.get("spec")
    volume_claim_templates = spec.get("volumeClaimTemplates") if isinstance(spec, Mapping) else None
    for index, template in enumerate(volume_claim_templates if isinstance(volume_claim_templates, list) else ()):
        inner = template.get("spec") if isinstance(template, Mapping) else None
        yield index, inner if isinstance(inner, Mapping) else {}


def _volume_mode_errors(modes: Any, path: str) -> Iterator[FieldError]:
    texts = [mode for mode in modes if isinstance(mode, str)] if isinstance(modes, list) else []
    if not texts:
        yield required(path, "at least 1 access mode is required", _RULE)
    yield from (not_supported(path, mode, _MODES, _RULE) for mode in texts if mode not in _MODES)
    if _ALONE in texts and set(texts) & set(_MODES) - {_ALONE}:
        yield forbidden(path, f"may not use {_ALONE} with other access modes", _RULE)


RULE = "validation/volume"
#: Where a path of the host may lead.
_HOST_TYPES = (
    "",
    *("BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
)
_MOST_MODE = 0o777
_SHORTEST, _LONGEST = 600, 2**32
_LONGEST_DRIVER = 63


def volume_errors(spec: Raw, pod_name: str, server: Server, *, pod: bool) -> tuple[list[FieldError], Mapping[str, Raw]]:
    """Return the errors, and the volumes without any by name. ``pod_name`` is empty for a template; ``pod``: it is
    none.

    Source: validation.go ValidateVolumes.
    """
    errors: list[FieldError] = []
    volumes: dict[str, Raw] = {}
    listed = items(spec, "volumes")
    claim_names = {
        f"{pod_name}-{text(mapping, 'name')}"
        for mapping in listed
        if pod_name and pointer(mapping, "ephemeral") is not None
    }
    for index, volume in enumerate(listed):
        path, name = f"spec.volumes[{index}]", text(volume, "name")
        field_errors = [*_source_errors(volume, path, name, pod_name, server)]
        image = pointer(volume, "image")
        always = pod or server.has_change("validation/image-volume-of-template")
        if always and image is not None and not text(image, "reference"):
            field_errors.append(required(f"{path}.image.reference", rule=RULE))
        if not name:
            field_errors.append(required(f"{path}.name", rule=RULE))
        else:
            field_errors += [invalid(f"{path}.name", name, fault, RULE) for fault in label_faults(name)]
        if name in volumes:
            field_errors.append(duplicate(f"{path}.name", name, RULE))
        if not field_errors:
            volumes[name] = volume
        errors += field_errors
        claim = text(mapping(volume, "persistentVolumeClaim"), "claimName")
        if claim in claim_names:
            text_ = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{path}.persistentVolumeClaim.claimName", claim, text_, RULE))
    return errors, volumes


def _source_errors(volume: Raw, path: str, name: str, pod_name: str, server: Server) -> Iterator[FieldError]:
    """Source: validation.go validateVolumeSource; of plugins that are gone only their names are looked at."""
    first = ""
    for key, (shown, check) in _SOURCES.items():
        source = pointer(volume, key)
        if source is None:
            continue
        if first and key != "emptyDir":
            yield forbidden(f"{path}.{shown}", "may not specify more than 1 volume type", RULE)
            continue
        first = key
        yield from check(source, f"{path}.{key}", server)
        if key == "ephemeral" and pod_name and name:
            claim_name = f"{pod_name}-{name}"
            for fault in subdomain_faults(claim_name):
                yield invalid(f"{path}.name", name, f'PVC name "{claim_name}": {fault}', RULE)


def _mode_errors(source: Raw, key: str, path: str) -> Iterator[FieldError]:
    mode = integer(source, key)
    if mode is not None and not 0 <= mode <= _MOST_MODE:
        detail = "must be a number between 0 and 0777 (octal), both inclusive"
        yield number(f"{path}.{key}", mode, detail, RULE)


def _empty_dir(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    del server
    try:
        negative = from_json(source.get("sizeLimit")).nano < 0
    except QuantityError:
        return
    if negative:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity", RULE)


def _host_path(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    del server
    item_path, kind = text(source, "path"), source.get("type")
    if not item_path:
        yield required(f"{path}.path", rule=RULE)
        return
    yield from backstep_errors(item_path, f"{path}.path", RULE)
    if isinstance(kind, str) and kind not in _HOST_TYPES:
        yield not_supported(f"{path}.type", kind, _HOST_TYPES, RULE)


def _git_repo(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    del server
    if not text(source, "repository"):
        yield required(f"{path}.repository", rule=RULE)
    yield from descending_errors(text(source, "directory"), f"{path}.directory", RULE)


def _files(key: str) -> Callable[[Raw, str, Server], Iterator[FieldError]]:
    """Of a Secret or ConfigMap, which ``key`` names."""

    def check(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
        del server
        if not text(source, key):
            yield required(f"{path}.{key}", rule=RULE)
        yield from _mode_errors(source, "defaultMode", path)
        for index, item in enumerate(items(source, "items")):
            yield from _item_errors(item, f"{path}.items[{index}]")

    return check


def _item_errors(item: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go validateKeyToPath."""
    for key in ("key", "path"):
        if not text(item, key):
            yield required(f"{path}.{key}", rule=RULE)
    yield from local_errors(text(item, "path"), f"{path}.path", RULE)
    yield from _mode_errors(item, "mode", path)


def _nfs(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    del server
    for key in ("server", "path"):
        if not text(source, key):
            yield required(f"{path}.{key}", rule=RULE)
    if not text(source, "path").startswith("/"):
        yield invalid(f"{path}.path", text(source, "path"), "must be an absolute path", RULE)


def _claim(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    del server
    if not text(source, "claimName"):
        yield required(f"{path}.claimName", rule=RULE)


def _downward(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    """The server names no place in the list."""
    del server
    yield from _mode_errors(source, "defaultMode", path)
    for item in items(source, "items"):
        yield from _downward_file(item, path)


def _downward_file(item: Raw, path: str) -> Iterator[FieldError]:
    """Source: validation.go validateDownwardAPIVolumeFile."""
    if not text(item, "path"):
        yield required(f"{path}.path", rule=RULE)
    yield from local_errors(text(item, "path"), f"{path}.path", RULE)
    field, resource = pointer(item, "fieldRef"), pointer(item, "resourceFieldRef")
    if field is not None:
        yield from references.field_errors(field, references.FILE_FIELDS, f"{path}.fieldRef")
        if resource is not None:
            yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously", RULE)
    elif resource is not None:
        yield from references.resource_errors(resource, f"{path}.resourceFieldRef", volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required", RULE)
    yield from _mode_errors(item, "mode", path)


def _projected_volume_errors(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    """Source: validation.go validateProjectionSources."""
    del server
    yield from _mode_errors(source, "defaultMode", path)
    taken: set[str] = set()
    for index, part in enumerate(items(source, "sources")):
        item_path = f"{path}.sources[{index}]"
        for key in ("secret", "configMap"):
            result = pointer(part, key)
            if result is not None:
                yield from _projected_files(result, f"{item_path}.{key}", path, taken)
        result = pointer(part, "downwardAPI")
        for item in items(result or {}, "items"):
            yield from _downward_file(item, f"{item_path}.downwardAPI")
            yield from _taken_twice(text(item, "path"), text(item, "path"), path, taken)
        token = pointer(part, "serviceAccountToken")
        if token is not None:
            yield from _token_errors(token, f"{item_path}.serviceAccountToken", path)
        if any(key in part for key in GATED_SOURCES):
            yield from source_errors(part, item_path)
        # Bundles and certificates that the server does not know were dropped before.
        kinds = ("secret", "configMap", "downwardAPI", "serviceAccountToken", *GATED_SOURCES)
        if sum(pointer(part, key) is not None for key in kinds) > 1:
            yield forbidden(item_path, "may not specify more than 1 volume type per source", RULE)


def _projected_files(source: Raw, path: str, volume: str, taken: set[str]) -> Iterator[FieldError]:
    if not text(source, "name"):
        yield required(f"{path}.name", rule=RULE)
    for index, item in enumerate(items(source, "items")):
        yield from _item_errors(item, f"{path}.items[{index}]")
        yield from _taken_twice(text(item, "path"), text(source, "name"), volume, taken)


def _taken_twice(file: str, shown: str, volume: str, taken: set[str]) -> Iterator[FieldError]:
    """Take the file into ``taken``."""
    if file and file in taken:
        yield invalid(volume, shown, "conflicting duplicate paths", RULE)
    taken.add(file)


def _token_errors(token: Raw, path: str, volume: str) -> Iterator[FieldError]:
    seconds = integer(token, "expirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        yield number(
            f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes", RULE
        )  # fmt: skip
    if seconds is not None and seconds > _LONGEST:
        yield number(f"{path}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds", RULE)
    if not text(token, "path"):
        yield required(f"{volume}.path", rule=RULE)
    else:
        yield from local_errors(text(token, "path"), f"{volume}.path", RULE)


def token_errors(spec: Raw, server: Server) -> Iterator[FieldError]:
    """Of tokens of an account that the pod does not name, where no plugin names one for it.

    Source: validation.go validatePodMetadataAndSpec.
    """
    if (
        "ServiceAccount" not in server.disabled_plugins
        or text(spec, "serviceAccountName")
        or text(spec, "serviceAccount")
    ):
        return
    for index, volume in enumerate(items(spec, "volumes")):
        for position, part in enumerate(items(mapping(volume, "projected"), "sources")):
            if pointer(part, "serviceAccountToken") is not None:
                path = f"spec.volumes[{index}].projected.sources[{position}].serviceAccountToken"
                yield forbidden(path, "must not be specified when serviceAccountName is not set", RULE)


def _csi(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    del server
    driver, secret = text(source, "driver"), pointer(source, "nodePublishSecretRef")
    if not driver:
        yield required(f"{path}.driver", rule=RULE)
    else:
        if len(driver) > _LONGEST_DRIVER:
            yield too_long(f"{path}.driver", _LONGEST_DRIVER, RULE)
        yield from (invalid(f"{path}.driver", driver, fault, RULE) for fault in subdomain_faults(driver.lower()))
    if secret is not None:
        name = text(secret, "name")
        if not name:
            yield required(f"{path}.nodePublishSecretRef.name", rule=RULE)
        else:
            yield from (invalid(f"{path}.name", name, fault, RULE) for fault in subdomain_faults(name))


def _ephemeral(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    template = pointer(source, "volumeClaimTemplate")
    path = f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(path, rule=RULE)
        return
    metadata, spec = mapping(template, "metadata"), mapping(template, "spec")
    yield from tag_errors(metadata, f"{path}.metadata")
    for key in metadata:
        if key not in {"annotations", "labels"} and metadata[key]:
            yield forbidden(f"{path}.metadata.{key}", "cannot be set", RULE)
    yield from claim_errors(spec, server, f"{path}.spec")
    requests = mapping(mapping(spec, "resources"), "requests")
    yield from size_errors(parse_list(requests, f"{path}.spec.resources.requests").get("storage"), f"{path}.spec")


def _image(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    del server
    policy = text(source, "pullPolicy")
    if policy and policy not in {"Always", "IfNotPresent", "Never"}:
        yield not_supported(f"{path}.pullPolicy", policy, ("Always", "IfNotPresent", "Never"), RULE)


def _no_errors(source: Raw, path: str, server: Server) -> Iterator[FieldError]:
    del source, path, server
    yield from ()


#: In the server's order; the first part is how an error names the source that is one too many.
_SOURCES: Mapping[str, tuple[str, Callable[[Raw, str, Server], Iterator[FieldError]]]] = {
    "emptyDir": ("emptyDir", _empty_dir),
    "hostPath": ("hostPath", _host_path),
    "gitRepo": ("gitRepo", _git_repo),
    "gcePersistentDisk": ("gcePersistentDisk", _no_errors),
    "awsElasticBlockStore": ("awsElasticBlockStore", _no_errors),
    "secret": ("secret", _files("secretName")),
    "nfs": ("nfs", _nfs),
    "iscsi": ("iscsi", _no_errors),
    "glusterfs": ("glusterfs", _no_errors),
    "flocker": ("flocker", _no_errors),
    "persistentVolumeClaim": ("persistentVolumeClaim", _claim),
    "rbd": ("rbd", _no_errors),
    "cinder": ("cinder", _no_errors),
    "cephfs": ("cephFS", _no_errors),
    "quobyte": ("quobyte", _no_errors),
    "downwardAPI": ("downwarAPI", _downward),
    "fc": ("fc", _no_errors),
    "flexVolume": ("flexVolume", _no_errors),
    "configMap": ("configMap", _files("name")),
    "azureFile": ("azureFile", _no_errors),
    "vsphereVolume": ("vsphereVolume", _no_errors),
    "photonPersistentDisk": ("photonPersistentDisk", _no_errors),
    "portworxVolume": ("portworxVolume", _no_errors),
    "azureDisk": ("azureDisk", _no_errors),
    "storageos": ("storageos", _no_errors),
    "projected": ("projected", _projected_volume_errors),
    "scaleIO": ("scaleIO", _no_errors),
    "csi": ("csi", _csi),
    "ephemeral": ("ephemeral", _ephemeral),
    "image": ("image", _image),
}


_PROJECTED_SOURCES_RULE = "validation/volume"
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_PATHS = ("credentialBundlePath", "keyPath", "certificateChainPath")
_PROJECTED_SOURCES_SHORTEST = 3600


def bundle_errors(bundle: Raw, path: str) -> Iterator[FieldError]:
    """Of a ``clusterTrustBundle``, without its path's own form. Source: validation.go validateProjectionSources."""
    name, signer = bundle.get("name"), bundle.get("signerName")
    if name is None and signer is None:
        yield required(path, "either name or signerName must be specified", _PROJECTED_SOURCES_RULE)
    elif name is not None and signer is None and not name:
        yield required(f"{path}.name", "must be a valid object name", _PROJECTED_SOURCES_RULE)
    if not text(bundle, "path"):
        yield required(f"{path}.path", rule=_PROJECTED_SOURCES_RULE)


def certificate_errors(certificate: Raw, path: str) -> Iterator[FieldError]:
    """Of a ``podCertificate``, without the form of its paths. Source: validation.go validateProjectionSources."""
    if not text(certificate, "signerName"):
        yield required(f"{path}.signerName", rule=_PROJECTED_SOURCES_RULE)
    kind = text(certificate, "keyType")
    if kind not in _KEY_TYPES:
        yield not_supported(f"{path}.keyType", kind, _KEY_TYPES, _PROJECTED_SOURCES_RULE, in_order=True)
    seconds = integer(certificate, "maxExpirationSeconds")
    if seconds is not None and seconds < _PROJECTED_SOURCES_SHORTEST:
        detail = f"if provided, maxExpirationSeconds must be >= {_PROJECTED_SOURCES_SHORTEST}"
        yield number(f"{path}.maxExpirationSeconds", seconds, detail, _PROJECTED_SOURCES_RULE)
    if not any(text(certificate, key) for key in _PATHS):
        yield required(
            path, f"specify at least one of {', '.join(_PATHS[:2])}, and {_PATHS[2]}", _PROJECTED_SOURCES_RULE
        )


def source_errors(part: Raw, path: str) -> Iterator[FieldError]:
    """Of one entry of ``sources``."""
    bundle, certificate = pointer(part, "clusterTrustBundle"), pointer(part, "podCertificate")
    if bundle is not None:
        yield from bundle_errors(bundle, f"{path}.clusterTrustBundle")
    if certificate is not None:
        yield from certificate_errors(certificate, f"{path}.podCertificate")
