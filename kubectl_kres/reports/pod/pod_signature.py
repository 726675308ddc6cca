"""When two live pods have the same answer: they were made alike and live alike, as those of a workload do."""

from __future__ import annotations

import msgspec
from msgspec import structs

from kubectl_kres.model.pod import Pod
from kubectl_kres.reports.common.analysis import Start

_ENCODER = msgspec.msgpack.Encoder()


def signature(start: Start, live: Pod) -> tuple[bytes, bytes]:
    """All of a pod that admission looks at, but for its name: what would be sent, on whatever node; the live values."""
    spec = live.spec
    held = (spec.containers, spec.init_containers, spec.resources)
    return _ENCODER.encode(structs.replace(start.pod.spec, node_name="")), _ENCODER.encode(held)
