"""The server's own mutating plugins on a whole pod: the ServiceAccount with its token and pull secrets, and what an
update keeps.

Source: kubernetes plugin/pkg/admission/serviceaccount/admission.go.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_kres.admission import limitrange as limitrange_admission
from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.limitrange import Limits
from kubectl_kres.admission.pod.defaulting import SYSTEM_PRIORITIES, check_priority, set_overhead, set_priority
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.admission_objects import ENFORCE, MIRROR
from kubectl_kres.policies.rules.objects import TOLERATION_SECONDS, containers_of
from kubectl_kres.policies.rules.request import Request, forbidden
from kubectl_kres.policies.rules.resources import draft_of, with_draft
from kubectl_kres.provenance.journal import Entry, Source

Raw = dict[str, Any]
TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a path
_VOLUME = "kube-api-access-"
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
#: Volumes that may name a secret, and the field in which they do.
_SECRET_VOLUMES = {
    "azureFile": "secretName", "cephfs": "secretRef", "cinder": "secretRef", "flexVolume": "secretRef",
    "rbd": "secretRef", "scaleIO": "secretRef", "iscsi": "secretRef", "storageos": "secretRef",
    "csi": "nodePublishSecretRef",
}  # fmt: skip
Accounts = Mapping[str, Mapping[str, Any]]


def admit(request: Request, accounts: Accounts | None) -> tuple[Raw, Refusal | None]:
    """Return the pod with what its account gives it. ``accounts`` None: they could not be read, nothing is refused."""
    pod: Raw = copy.deepcopy(dict(request.object or {}))
    if accounts is None or request.kind != "Pod" or request.operation != "CREATE" or request.subresource:
        return pod, None
    spec = pod["spec"]
    if MIRROR in ((pod.get("metadata") or {}).get("annotations") or {}):
        return pod, _mirror(request, spec)
    name = spec.get("serviceAccountName") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    account = accounts.get(name)
    if account is None:
        return pod, missing_account(request, name)
    if _automounts(account, spec):
        _mount(spec)
    if not spec.get("imagePullSecrets"):
        secrets = [
            {"name": image_pull_secret.get("name", "")} for image_pull_secret in account.get("imagePullSecrets") or ()
        ]
        if secrets:
            spec["imagePullSecrets"] = secrets
        else:
            spec.pop("imagePullSecrets", None)
    return pod, _refuse_unlisted_secrets(request, account, spec)


def review(request: Request, accounts: Accounts | None) -> Refusal | None:
    """Return what is said of ephemeral containers, which may name secrets as well."""
    if accounts is None or request.kind != "Pod" or request.subresource != "ephemeralcontainers":
        return None
    spec = (request.object or {}).get("spec") or {}
    name = spec.get("serviceAccountName") or ""
    if not name:
        text = f"no service account specified for pod {request.namespace}/{request.name}"
        return forbidden(request, text, "service-account/missing")
    account = accounts.get(name)
    if account is None:
        return missing_account(request, name)
    if not _has_enforced_secrets(account):
        return None
    account_secrets = {secret.get("name") for secret in account.get("secrets") or ()}
    fault = next(_references(spec, "ephemeralContainers", "ephemeral container", account_secrets, name), None)
    return None if fault is None else forbidden(request, fault, "service-account/secret")


def missing_account(request: Request, name: str) -> Refusal:
    text = f'error looking up service account {request.namespace}/{name}: serviceaccount "{name}" not found'
    source = Source("ServiceAccount", name, request.namespace)
    return forbidden(request, text, "service-account/missing", path="spec.serviceAccountName", source=source)


def _mirror(request: Request, spec: Raw) -> Refusal | None:
    if spec.get("serviceAccountName"):
        return forbidden(request, "a mirror pod may not reference service accounts", "service-account/mirror")
    if any(_secrets(spec)):
        return forbidden(request, "a mirror pod may not reference secrets", "service-account/mirror")
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            if source.get("serviceAccountToken") is not None:
                text = "a mirror pod may not use ServiceAccountToken volume projections"
                return forbidden(request, text, "service-account/mirror")
    return None


def _secrets(spec: Raw) -> Iterator[bool]:
    """Yield one True for every secret that the pod names."""
    yield from (True for image_pull_secret in spec.get("imagePullSecrets") or () if image_pull_secret.get("name"))
    for container in containers_of(spec):
        yield from (True for item in container.get("envFrom") or () if item.get("secretRef") is not None)
        for variable in container.get("env") or ():
            if (variable.get("valueFrom") or {}).get("secretKeyRef") is not None:
                yield True
    for volume in spec.get("volumes") or ():
        if volume.get("secret") is not None:
            yield True
        for source in (volume.get("projected") or {}).get("sources") or ():
            if source.get("secret") is not None:
                yield True
        for kind, field in _SECRET_VOLUMES.items():
            if (volume.get(kind) or {}).get(field) is not None:
                yield True


def _automounts(account: Mapping[str, Any], spec: Raw) -> bool:
    for holder in (spec, account):
        if holder.get("automountServiceAccountToken") is not None:
            return bool(holder["automountServiceAccountToken"])
    return True


def _mount(spec: Raw) -> None:
    existing = next(
        (volume["name"] for volume in spec.get("volumes") or () if str(volume.get("name", "")).startswith(_VOLUME)),
        None,
    )
    name = existing or f"{_VOLUME}xxxxx"
    mounted = False
    for key in ("initContainers", "containers"):
        for container in spec.get(key) or ():
            if any(volume_mount.get("mountPath") == TOKEN_PATH for volume_mount in container.get("volumeMounts") or ()):
                continue
            mount = {"name": name, "readOnly": True, "mountPath": TOKEN_PATH}
            container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
            mounted = True
    if mounted and existing is None:
        spec["volumes"] = [*(spec.get("volumes") or ()), {"name": name, "projected": _token()}]


def _token() -> Raw:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "defaultMode": 0o644,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
    }


def _has_enforced_secrets(account: Mapping[str, Any]) -> bool:
    return ((account.get("metadata") or {}).get("annotations") or {}).get(ENFORCE) in _TRUE


def _refuse_unlisted_secrets(request: Request, account: Mapping[str, Any], spec: Raw) -> Refusal | None:
    """403 where the account may only be used with the secrets that it lists."""
    if not _has_enforced_secrets(account):
        return None
    name = account["metadata"]["name"]
    account_secrets = {secret.get("name") for secret in account.get("secrets") or ()}
    text = next(_secret_faults(spec, account_secrets, account, name), None)
    return None if text is None else forbidden(request, text, "service-account/secret")


def _secret_faults(spec: Raw, account_secrets: set[Any], account: Mapping[str, Any], name: str) -> Iterator[str]:
    tail = f"is not allowed because service account {name} does not reference that"
    for volume in spec.get("volumes") or ():
        secret = (volume.get("secret") or {}).get("secretName")
        if volume.get("secret") is not None and secret not in account_secrets:
            yield f'volume with secret.secretName="{secret}" {tail} secret'
    yield from _references(spec, "initContainers", "init container", account_secrets, name)
    yield from _references(spec, "containers", "container", account_secrets, name)
    pulls = {image_pull_secret.get("name") for image_pull_secret in account.get("imagePullSecrets") or ()}
    for index, image_pull_secret in enumerate(spec.get("imagePullSecrets") or ()):
        if image_pull_secret.get("name") not in pulls:
            yield f'imagePullSecrets[{index}].name="{image_pull_secret.get("name")}" {tail} imagePullSecret'


def _references(spec: Mapping[str, Any], key: str, word: str, account_secrets: set[Any], account: str) -> Iterator[str]:
    tail = f"is not allowed because service account {account} does not reference that secret"
    for container in spec.get(key) or ():
        name = container.get("name", "")
        for variable in container.get("env") or ():
            secret = (variable.get("valueFrom") or {}).get("secretKeyRef")
            if secret is not None and secret.get("name") not in account_secrets:
                shown = f'secret.secretName="{secret.get("name")}"'
                yield f"{word} {name} with envVar {variable.get('name')} referencing {shown} {tail}"
        for source in container.get("envFrom") or ():
            secret = source.get("secretRef")
            if secret is not None and secret.get("name") not in account_secrets:
                yield f'{word} {name} with envFrom referencing secret.secretName="{secret.get("name")}" {tail}'


BuiltInRaw = Mapping[str, Any]


def run_plugins(
    request: Request,
    order: Sequence[Limits],
    policies: Policies,
    accounts: Accounts | None,
    server: Server,
    entries: list[Entry] | None = None,
) -> tuple[dict[str, Any], Refusal | None]:
    """LimitRange defaults in that order (written to ``entries``), service account, priority, tolerations, overhead."""
    pod = request.object or {}
    draft = draft_of(pod, server)
    for limits in order:
        limitrange_admission.mutate(draft, limits, entries)
    canonical = with_draft(pod, draft)
    canonical, refusal = admit(request.with_object(canonical), accounts)
    if refusal is not None:
        return canonical, refusal
    draft = draft_of(canonical, server)
    classes, runtimes = policies.priorities, policies.runtimes
    refusal = set_priority(draft, request.name, classes, None) or check_priority(draft, request.name, classes)
    refusal = refusal or set_overhead(draft, request.name, runtimes, None)
    if refusal is not None:
        return canonical, refusal
    canonical = with_draft(canonical, draft)
    spec = canonical["spec"]
    chosen = (classes or {}).get(draft.priority_class)
    spec["priority"] = SYSTEM_PRIORITIES.get(draft.priority_class, 0) if chosen is None else chosen.value
    policy = None if chosen is None else chosen.preemption_policy
    spec["preemptionPolicy"] = policy or "PreemptLowerPriority"
    spec["tolerations"] = _tolerations(spec.get("tolerations") or ())
    return canonical, None


def _tolerations(written: Sequence[BuiltInRaw]) -> list[dict[str, Any]]:
    """With those that every pod gets for nodes that are not ready or not reachable."""
    out = [copy.deepcopy(dict(mapping)) for mapping in written]
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        covered = any(
            mapping.get("key") in (key, "", None) and mapping.get("effect") in ("NoExecute", "", None)
            for mapping in written
        )
        if not covered:
            toleration = {"key": key, "operator": "Exists", "effect": "NoExecute"}
            out.append({**toleration, "tolerationSeconds": TOLERATION_SECONDS})
    return out


def stored_part(operation: str, before: BuiltInRaw, after: BuiltInRaw) -> dict[str, Any]:
    """Return the part of an update that is stored: of a resize only resources, of a status update only the status."""
    if operation not in ("RESIZE", "STATUS"):
        return dict(after)
    canonical = copy.deepcopy(dict(before))
    if operation == "STATUS":
        canonical["status"] = after.get("status") or {}
        return canonical
    spec, new = canonical["spec"], after.get("spec") or {}
    for key in ("containers", "initContainers"):
        by_name = {item.get("name"): item for item in new.get(key) or ()}
        for container in spec.get(key) or ():
            changed = by_name.get(container.get("name"))
            if changed is not None:
                container["resources"] = changed.get("resources") or {}
    if "resources" in new:
        spec["resources"] = new["resources"]
    return canonical
