"""What changes a bare Pod that exists where applying its file is refused: a resize, or another pod."""

from __future__ import annotations

import json
import shlex
from typing import Any

from msgspec import structs

from kubectl_kres.model.objects import decode_object, to_wire
from kubectl_kres.model.pod import Container, Pod
from kubectl_kres.record import Sentence
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.reports.common.remedy import Remedy
from kubectl_kres.reports.remedies.commands import directed_command
from kubectl_kres.store.store import Store


class RecreatePod(Sentence, frozen=True):
    """A pod whose other fields stay as they are while it exists."""

    name: str


class ResizePod(Sentence, frozen=True):
    """A pod whose requests and limits change in place."""


def update_fixes(store: Store, subject: Subject, stored: Pod) -> tuple[Remedy, ...]:
    """Return what changes a pod that exists: a resize, where nothing but requests and limits differ; else a new pod."""
    again = Remedy(RecreatePod(subject.ref.name))
    sent = decode_object(subject.raw or {}, type(stored))
    before = {container.name: container for container in stored.spec.containers or ()}
    resized = []
    for container in sent.spec.containers or ():
        old = before.get(container.name)
        if old is None or structs.replace(container, resources=None, image="") != structs.replace(
            old, resources=None, image="", **_left_out(container)
        ):
            return (again,)
        if container.resources is not None and container.resources != old.resources:
            resized.append({"name": container.name, "resources": to_wire(container.resources)})
    if not resized:
        return (again,)
    patch = json.dumps({"spec": {"containers": resized}}, separators=(",", ":"))
    words = f"patch pod {shlex.quote(subject.ref.name)} -n {shlex.quote(subject.ref.namespace)} --subresource resize"
    command = directed_command(store.origin, f"{words} -p {shlex.quote(patch)}")
    return (Remedy(ResizePod(), commands=(command,)),)


def _left_out(container: Container) -> dict[str, Any]:
    """Return the fields that the file leaves out, which the server or a webhook has filled in."""
    return {
        field: getattr(container, field)
        for field in container.__struct_fields__
        if field not in {"resources", "image"} and not getattr(container, field)
    }
