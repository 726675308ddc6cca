"""What Tekton's objects are made of: parameters, results, workspaces, volumes, conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubectl_kres.model.meta import Base


class Param(Base, frozen=True):
    """A parameter with its value, which is a text, a list of texts or an object; or its declaration with a default.

    ``type``, ``properties`` (of an object, by key) and ``enum`` are of a declaration.
    """

    name: str = ""
    value: Any = None
    default: Any = None
    type: str = ""
    properties: Mapping[str, Any] | None = None
    enum: tuple[str, ...] | None = None


class Variable(Base, frozen=True):
    """An environment variable of a step; only a reference to a path of Tekton's matters."""

    name: str = ""
    value: str = ""


class Named(Base, frozen=True):
    """A volume, or a workspace that is declared or used."""

    name: str = ""


class DeclaredResult(Base, frozen=True):
    """A declared result. ``value``: where a Task takes it from, a result of a step."""

    name: str = ""
    type: str = ""
    properties: Mapping[str, Any] | None = None
    value: Any = None


class VolumeMount(Base, frozen=True):
    """Where a step mounts a volume."""

    name: str = ""
    mount_path: str = ""
    sub_path: str = ""


class When(Base, frozen=True):
    """A condition of a pipeline task, where references order tasks, or of a step."""

    input: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None
    cel: str = ""


class WorkspaceDeclaration(Base, frozen=True):
    """A workspace that a Task declares; without ``mount_path`` it is below /workspace."""

    name: str = ""
    mount_path: str = ""
    optional: bool = False


class ClaimVolume(Base, frozen=True):
    """A claim that is there already."""

    claim_name: str = ""


class WorkspaceBinding(Base, frozen=True):
    """What a run puts behind a workspace; with a claim or a template for one it is backed by a volume."""

    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None
    volume_claim_template: Any = None
