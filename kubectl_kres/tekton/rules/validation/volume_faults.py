"""What the webhook refuses in volumes, mounts and workspaces of a Task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from posixpath import normpath

from kubectl_kres.tekton.model import Named, Step, TaskSpec, VolumeMount
from kubectl_kres.tekton.rules.base.config import Flags
from kubectl_kres.tekton.rules.validation.webhook_error import WebhookError, quote

_VOLUME, _MOUNT, _TWICE = "tekton/volume", "tekton/mount", "tekton/given-twice"


def volume_faults(volumes: Sequence[Named] | None, path: str) -> Iterator[WebhookError]:
    """Volumes with a name that is taken. Source: v1/task_validation.go ValidateVolumes."""
    names: set[str] = set()
    for index, volume in enumerate(volumes or ()):
        if volume.name in names:
            text = f"multiple volumes with same name {quote(volume.name)}"
            yield WebhookError(text, f"{path}[{index}].name", _VOLUME)
        names.add(volume.name)


def workspace_faults(spec: TaskSpec, path: str) -> Iterator[WebhookError]:
    """Workspaces that are declared twice, or at a path that a step mounts something at.

    Source: v1/task_validation.go validateDeclaredWorkspaces.
    """
    names: set[str] = set()
    steps = (*(spec.steps or ()), spec.step_template or Step())
    mounts = {_clean(mount.mount_path) for step in steps for mount in step.volume_mounts or ()}
    for index, workspace in enumerate(spec.workspaces or ()):
        where, mount = f"{path}.workspaces[{index}]", _clean(workspace.mount_path or f"/workspace/{workspace.name}")
        if workspace.name in names:
            yield WebhookError(f"workspace name {quote(workspace.name)} must be unique", f"{where}.name", _TWICE)
        if mount in mounts:
            yield WebhookError(f"workspace mount path {quote(mount)} must be unique", f"{where}.mountpath", _TWICE)
        names.add(workspace.name)
        mounts.add(mount)


def usage_faults(spec: TaskSpec, path: str, flags: Flags) -> Iterator[WebhookError]:
    """Workspaces that a step or sidecar has for itself. Source: v1/task_validation.go validateWorkspaceUsages."""
    names = {workspace.name for workspace in spec.workspaces or ()}
    used = {
        "step": [step.workspaces or () for step in spec.steps or ()],
        "sidecar": [sidecar.workspaces or () for sidecar in spec.sidecars or ()],
    }
    for role, pairs in used.items():
        for index, workspaces in enumerate(pairs):
            if workspaces and flags.api_fields == "stable":
                text = f'{role} workspaces requires "enable-api-fields" feature gate to be "alpha" or "beta" but it is'
                yield WebhookError(f'{text} "stable"', "", "tekton/api-fields")
            for place, workspace in enumerate(workspaces):
                if workspace.name not in names:
                    where = f"{path}.{role}s[{index}].workspaces[{place}].name"
                    yield WebhookError(f"undefined workspace {quote(workspace.name)}", where, "tekton/undeclared")


def mount_faults(mounts: Sequence[VolumeMount] | None, path: str) -> Iterator[WebhookError]:
    """Mounts where Tekton's own are. Source: v1/container_validation.go Step.Validate."""
    for index, mount in enumerate(mounts or ()):
        where, clean = f"{path}.volumeMounts[{index}]", _clean(mount.mount_path)
        if clean.startswith("/tekton/") and not clean.startswith("/tekton/home"):
            text = f"(volumeMount {quote(mount.name)} mounted at {quote(mount.mount_path)})"
            text = f"volumeMount cannot be mounted under /tekton/ {text}"
            yield WebhookError(text, f"{where}.mountPath", _MOUNT)
        if mount.name.startswith("tekton-internal-"):
            text = f'volumeMount name {quote(mount.name)} cannot start with "tekton-internal-"'
            yield WebhookError(text, f"{where}.name", _MOUNT)


def _clean(path: str) -> str:
    """A path as Go cleans it, which keeps no second slash at its start."""
    return normpath(path).replace("//", "/", 1) if path else "."
