"""One object asked of the real server and of the engine: how the answers differ."""

from __future__ import annotations

import json
import re
from typing import Any

from conformance.compare import differences
from e2e.asking import Asking, Data, Reply, answer
from e2e.differential import _DECODER, COMPARED, predicted

from kubectl_kres.admission.base.resource_names import RANDOM
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.admission.structure.jobs import UID

_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def judge(asking: Asking, namespace: str, object_: Data, policies: Policies, server: Server) -> list[str]:
    """What the prediction has wrong, with what was asked; empty: nothing. Nothing is stored."""
    reply = without_chance(asking.create(object_, namespace, dry=True), object_)
    outcomes = create(_DECODER.decode(json.dumps(object_, ensure_ascii=False).encode()), policies, server)
    real = answer(reply, [one.refusal.parts for one in outcomes if one.refusal and one.unordered])
    faults = differences(real, [predicted(one) for one in outcomes], COMPARED)
    return faults and [
        json.dumps(object_, ensure_ascii=False),
        f"answer: {reply.body.get('message', 'admitted')}",
        *faults,
    ]


def without_chance(reply: Reply, object_: Data) -> Reply:
    """The reply with what predictions write for what is random: UIDs, and the ends of names that are made."""
    text = _UID.sub(UID, json.dumps(reply.body, ensure_ascii=False))
    metadata = object_.get("metadata") or {}
    head = metadata.get("generateName")
    if head and not metadata.get("name"):
        text = re.sub(rf"{re.escape(head)}[bcdfghjklmnpqrstvwxz2456789]{{5}}", f"{head}{RANDOM}", text)
    body: Any = json.loads(text)
    return reply._replace(body=body)
