"""Cgroups as an indented tree of files, then what is shared and what each container sees."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubectl_kres.admission.kubelet.cgroup import Cgroup
from kubectl_kres.admission.kubelet.kernel import PERIOD
from kubectl_kres.render.text.line import Line, padded, size, toned, wrapped
from kubectl_kres.reports.qos.cgroups import Cgroups, Seen, Shared

_BYTES = re.compile(r"memory\.(max|limit_in_bytes)")
_BINARY, _DECIMAL = ("Ki", "Mi", "Gi", "Ti", "Pi"), ("k", "M", "G", "T", "P")


def tree(cgroups: Cgroups, width: int) -> Iterator[Line]:
    """Each cgroup on a line of its own, its files below it."""
    yield [("", "")]
    yield [("strong", "cgroups"), ("", f" of version {cgroups.version}, driver {cgroups.driver}")]
    shares = "cpu.weight" if cgroups.version == 2 else "cpu.shares"
    yield from _group(cgroups.root, "", 1, width, shares)
    for shared in cgroups.shared:
        yield from _shared(shared, width)
    if cgroups.seen:
        yield [("", "")]
        yield from toned("strong", wrapped("what a program sees as its limit: the smallest on the way up", width))
        yield from _seen(cgroups)
    yield [("", "")]
    for note in cgroups.notes:
        yield from toned("quiet", wrapped(note, width, first="note: ", rest="  "))


def _group(cgroup: Cgroup, above: str, depth: int, width: int, shares: str) -> Iterator[Line]:
    indent = "  " * depth
    title = f"  ({cgroup.name})" if cgroup.kind in {"container", "pause"} else ""
    yield [("", f"{indent}{cgroup.path.removeprefix(above)}"), ("strong", title)]
    known = [(value.file, value.value, _source(value.file, value.value, value.source)) for value in cgroup.values]
    if cgroup.oom_score_adj is not None:
        known.append(("oom_score_adj", str(cgroup.oom_score_adj), "of its processes"))
    elif cgroup.kind == "container":
        known.append(("oom_score_adj", "depends", "on the memory of the node"))
    if cgroup.kind == "qos" and all(value.file != shares for value in cgroup.values):
        known.insert(0, (shares, "depends", "on all such pods of the node"))
    heads = [max((size(row[column]) for row in known), default=0) for column in (0, 1)]
    for file, value, source in known:
        head = f"{indent}    {padded(file, heads[0])}  {padded(value, heads[1])}  "
        if size(head) + size(source) <= width:
            yield [("", head), ("quiet", source)]
        else:
            yield [("", head)]
            yield [("quiet", f"{indent}      {source}")]
    for child in cgroup.children:
        yield from _group(child, cgroup.path, depth + 1, width, shares)


def _source(file: str, value: str, path: str) -> str:
    shown = f"{amount(int(value))}, " if _BYTES.fullmatch(file) and value.isdigit() else ""
    own = path.startswith(("spec.containers", "spec.initContainers"))
    text = f"its {path.rpartition('.')[2]}" if own else path
    return f"{shown}{text}" if text else shown.removesuffix(", ")


def amount(number: int) -> str:
    """Bytes in the unit that says them exactly in the fewest characters: ``512Mi``, ``384M``."""
    texts = [f"{number} bytes"]
    for base, units in ((1024, _BINARY), (1000, _DECIMAL)):
        rest = number
        for unit in units:
            if not rest or rest % base:
                break
            rest //= base
            texts.append(f"{rest}{unit}")
    return min(texts, key=len)


def _shared(shared: Shared, width: int) -> Iterator[Line]:
    yield [("", "")]
    who = [*shared.free, *(f"{name} (up to its own {limit})" for name, limit in shared.own)]
    head = f"{', '.join(who)} share the pod level's {shared.resource} limit {shared.limit}"
    if len(who) == 1:
        head = f"{who[0]} has the pod level's {shared.resource} limit {shared.limit} to itself"
    yield from toned("", wrapped(head, width, rest="  "))
    if shared.unreachable:
        text = f"their own limits add up to {shared.sum}: not all of them can be reached at once"
        yield from toned("warn", wrapped(text, width, first="  ", rest="  "))
    elif not shared.free and shared.sum and shared.sum != shared.limit:
        text = f"their own limits add up to {shared.sum}: the rest of {shared.limit} is out of their reach"
        yield from toned("quiet", wrapped(text, width, first="  ", rest="  "))


def _seen(cgroups: Cgroups) -> Iterator[Line]:
    rows = [(seen.container, _memory(seen), _cpu(seen)) for seen in cgroups.seen]
    widths = [max(size(row[column]) for row in rows) for column in (0, 1)]
    for name, memory, cpu in rows:
        yield [("", f"  {padded(name, widths[0])}  memory {padded(memory, widths[1])}  cpu {cpu}")]


def _memory(seen: Seen) -> str:
    return "the node's" if seen.memory is None else f"{amount(seen.memory)}{_whose(seen.memory_at)}"


def _cpu(seen: Seen) -> str:
    if seen.cpu is None:
        return "the node's"
    return f"{seen.cpu / PERIOD:g}{_whose(seen.cpu_at)}"


def _whose(path: str) -> str:
    """Whether the limit is the pod's; the last part of a container's path is made by the runtime."""
    last = path.rpartition("/")[2]
    return "" if last in {"ID", "cri-containerd-ID.scope"} else " of the pod"
