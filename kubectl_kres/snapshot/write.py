"""A store, or pages as they are read, to a snapshot.

A file that appears whole under its name, or not at all.

What a snapshot keeps of Tekton's objects: that there is a script, not what it says; how many values, not which.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import itertools
import os
import re
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
from msgspec import Struct, structs

from kubectl_kres.errors import SnapshotError
from kubectl_kres.model import kinds
from kubectl_kres.model.admission_objects import is_parameter
from kubectl_kres.model.tekton_config import ConfigMap
from kubectl_kres.snapshot.format import CRC, PAGE, Header, SnapshotTrailer, coverage_entries, header, is_managed
from kubectl_kres.snapshot.redact import deciding_parts, redact
from kubectl_kres.store.store import Coverage, ReadRequest, Store
from kubectl_kres.tekton import model as tekton
from kubectl_kres.tekton.model import DeclaredResult, Param, Variable, When, WorkspaceDeclaration
from kubectl_kres.tekton.rules.resources.container_draft import ARTIFACTS, needs_directory

T = TypeVar("T", bound=Struct)

#: Stands for a text that was left out.
HIDDEN = "hidden"

_REFERENCE = re.compile(r"\$\((?:params|tasks)\.[A-Za-z0-9_.\[\]*'\"-]+\)")
#: A variable at the start of a path, which decides where the path leads.
_START = re.compile(r"\$\([A-Za-z0-9_.\[\]'\"-]+\)")

KINDS = (tekton.Task, tekton.TaskRun, tekton.Pipeline, tekton.PipelineRun, tekton.StepAction)


def without_texts(item: T) -> T:
    """Return one of Tekton's objects, or of its configuration, without the texts of people; any other object as it is.

    Equal values of parameters stay equal, since a matrix is counted by them.
    """
    if isinstance(item, ConfigMap):
        texts = (
            *("default_pod_template", "default_affinity_assistant_pod_template"),
            "default_task_run_workspace_binding",
        )
        data = structs.replace(item.data, **{name: _hide_text(getattr(item.data, name)) for name in texts})
        return structs.replace(item, data=data)
    return _Hush().replacement_for(item) if isinstance(item, KINDS) else item


def claim_template(template: Any) -> Any:
    """Return a claim's template with its name and what quotas and LimitRanges look at."""
    if not isinstance(template, Mapping):
        return template
    metadata, spec = template.get("metadata"), template.get("spec")
    kept = ("accessModes", "resources", "storageClassName", "volumeAttributesClassName")
    own_spec = {key: spec[key] for key in kept if key in spec} if isinstance(spec, Mapping) else {}
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return {**({"metadata": {"name": name}} if name else {}), "spec": own_spec}


def _host_ports(ports: Any) -> Any:
    if not isinstance(ports, list):
        return None
    return [{"hostPort": port["hostPort"]} for port in ports if isinstance(port, Mapping) and "hostPort" in port]


#: Fields that are kept in part.
_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "security_context": deciding_parts,
    "volume_claim_template": claim_template,
    "ports": _host_ports,
}

#: What of a step only the webhook looks at, which sees no object of a snapshot.
_ASIDE = frozenset({"volume_mounts", "workspaces", "when", "timeout", "stdout_config", "stderr_config"})

_TEXTS = frozenset({"value", "default", "input", "values", "cel"})


class _Hush:
    """One object's texts, each with the number that stands for it."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}

    def replacement_for(self, item: T) -> T:
        """Return the struct with everything in it hushed; itself if there is nothing to hide."""
        changes: dict[str, Any] = {}
        for field in item.__struct_fields__:
            result = getattr(item, field)
            kept = self._field(item, field, result)
            if kept is not result and kept != result:
                changes[field] = kept
        return structs.replace(item, **changes) if changes else item

    def _field(self, item: Struct, field: str, value: Any) -> Any:
        if field in _PARTS:
            return _PARTS[field](value)
        hidden = field == "pipeline_spec" or (isinstance(item, tekton.Volume) and field != "name")
        if hidden and not isinstance(value, Struct):
            return value if value is None else {HIDDEN: True}
        if isinstance(item, tekton.Step | tekton.Sidecar) and field in _ASIDE:
            return None
        if isinstance(item, tekton.Step | tekton.Sidecar | Variable):
            return self._step(field, value)
        if isinstance(item, Param | DeclaredResult) and field == "properties":
            return value and {key: {} for key in value}
        if (isinstance(item, Param) and field == "enum") or (isinstance(item, DeclaredResult) and field == "value"):
            return None
        if isinstance(item, WorkspaceDeclaration) and field == "mount_path":
            return value and f"{_root(value)}x"
        if isinstance(item, Param | When) and field in _TEXTS:
            return self._values(value)
        return self._redact_value(value)

    def _step(self, field: str, value: Any) -> Any:
        if field == "script":
            return _hide_text(value)
        if field == "working_dir":
            return _reduce_directory(value)
        if field in {"command", "args"} and value:
            return tuple(_hide_text(word) for word in value)
        if field == "value":
            return _hide_text(value)
        return self._redact_value(value)

    def _redact_value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._redact_value(item) for item in value)
        return self.replacement_for(value) if isinstance(value, Struct) else value

    def _values(self, value: Any) -> Any:
        """Texts as numbers, but for what they refer to, and the root that a working directory may have."""
        if isinstance(value, str) and value.rstrip("/") != "/workspace":
            result = _REFERENCE.findall(value)
            number = f"{_root(value)}{len(self.numbers) + 1}"
            return " ".join(result) if result or not value else self.numbers.setdefault(value, number)
        if isinstance(value, list | tuple):
            return type(value)(self._values(item) for item in value)
        if isinstance(value, Mapping):
            return {key: self._values(value) for key, value in value.items()}
        return value


def _reduce_directory(path: str) -> str:
    """Return a working directory that leads to the same containers, with the variable at its start."""
    start = _START.match(path)
    if start is None:
        return path and ("/workspace/x" if needs_directory(path) else "/")
    rest = path[start.end() :]
    return start[0] + ("/x" if rest.startswith("/") else rest and "x")


def _root(text: str) -> str:
    """Return where a text leads that is used as a path."""
    return "/workspace/" if text.startswith("/workspace/") else "/" if text.startswith("/") else ""


def _hide_text(text: str) -> str:
    """Nothing stays nothing; a reference that adds a container is kept."""
    return text and (ARTIFACTS if ARTIFACTS in text else HIDDEN)


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A stream to write to; what was written becomes the file ``path``, readable by its owner only, on a clean exit.

    On an error, a full disk too, the old file stays and nothing else is left behind. ``-`` is standard output; devices
    and pipes are written to directly. Raises OSError.
    """
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        with target.open("wb") as stream:
            yield stream
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync(target.parent)


def _sync(directory: Path) -> None:
    """Make a new name in a directory last, on systems where a directory can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


Pages = Iterable[tuple[str, Sequence[Any]]]
#: Of gzip: half the time of its default, and still a fortieth of the JSON that the cluster has.
_LEVEL = 3
_ENCODER = msgspec.json.Encoder(order="deterministic")


def write(store: Store, path: str) -> int:
    """Write a store; returns the number of objects, views for the scheduler apart. Equal stores make equal bytes.

    ``-`` is standard output; a name that ends in ``.gz`` is gzipped. The file appears whole or not at all, readable by
    its owner only. Raises SnapshotError if it cannot be written.
    """
    store.open_deferred()
    pages = ((kind, page) for kind in store.kinds() for page in _batches(_objects(store, kind)))
    return write_stream(header(store), pages, path)


def write_stream(
    header: Header,
    pages: Pages,
    path: str,
    *,
    coverage: Callable[[], Mapping[ReadRequest, Coverage]] | None = None,
) -> int:
    """Write pages (a kind and its objects) as they come, so that one is in memory; returns the number of objects.

    coverage: asked after the last page, for reading that goes on while writing; it replaces the header's. As ``write``
    otherwise; what ``pages`` raises is raised, and then nothing is written.
    """
    try:
        with replacing(path) as raw, _open_compressed(raw, path) as stream:
            return _write(stream, header, pages, coverage)
    except BrokenPipeError:
        raise
    except OSError as error:
        if path == "-":
            raise
        message = f"{path}: the snapshot cannot be written: {error.strerror or error}"
        raise SnapshotError(message, hint="no file was changed; choose another place with --out") from error


def _write(
    stream: BinaryIO | gzip.GzipFile,
    header: Header,
    pages: Pages,
    coverage: Callable[[], Mapping[ReadRequest, Coverage]] | None,
) -> int:
    crc = objects = 0
    for count, line in itertools.chain([(0, _ENCODER.encode(header) + b"\n")], _lines(pages)):
        stream.write(line)
        crc = zlib.crc32(line, crc)
        objects += count
    known = None if coverage is None else coverage_entries(coverage())
    end = _ENCODER.encode(SnapshotTrailer(True, objects, known, 0)).rpartition(CRC)[0] + CRC
    stream.write(end + b"%d}\n" % zlib.crc32(end, crc))
    return objects


def _lines(pages: Pages) -> Iterator[tuple[int, bytes]]:
    for kind, items in pages:
        if kind not in kinds.BY_KIND and not is_parameter(kind):
            raise SnapshotError(f"a snapshot holds no {kind}", hint="known are " + " ".join(kinds.BY_KIND))
        kept = _redact_view if kinds.is_view(kind) else _redact
        for managed, group in itertools.groupby(items, key=is_managed):
            for page in _batches(group):
                head = b'{"kind":"%s",' % kind.encode() + (b'"managed":true,"items":' if managed else b'"items":')
                yield 0 if kinds.is_view(kind) else len(page), head + _ENCODER.encode(list(map(kept, page))) + b"}\n"


def _redact(item: Any) -> Any:
    return without_texts(redact(item))


def _redact_view(item: Any) -> Any:
    from kubectl_kres.snapshot.scheduling import redact_view  # noqa: PLC0415 - only what is read for the scheduler

    return redact_view(item)


def _objects(store: Store, kind: str) -> Iterator[Any]:
    """Yield those of a kind; the store has pods on nodes as one object."""
    if kind != kinds.BOUND_PODS:
        return store.all(kind)
    from kubectl_kres.snapshot.scheduling import write_placed  # noqa: PLC0415 - only what is read for the scheduler

    return itertools.chain.from_iterable(map(write_placed, store.all(kind)))


def _batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while page := list(itertools.islice(rest, PAGE)):
        yield page


@contextlib.contextmanager
def _open_compressed(raw: BinaryIO, path: str) -> Iterator[BinaryIO | gzip.GzipFile]:
    """The stream, through gzip if the name asks for it; no name and time in it, so that equal stores stay equal."""
    if not path.endswith(".gz"):
        yield raw
        return
    with gzip.GzipFile("", "wb", _LEVEL, raw, 0) as packed:
        yield packed
