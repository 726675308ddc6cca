"""Preparation of a call from Python: objects of any library made plain, and a store with all that the report needs."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import binary, nearest_version, parse
from kubectl_kres.api.clusters import Cluster, NoCluster, ReadObjects
from kubectl_kres.documents import yaml_text
from kubectl_kres.documents.scalar import Number
from kubectl_kres.errors import InputError, UsageError
from kubectl_kres.manifests.manifest import Manifest
from kubectl_kres.manifests.overlay import counted_kind, is_always_counted, overlay, workload_kind_of
from kubectl_kres.manifests.read import drop_unversioned, raise_faults, read
from kubectl_kres.manifests.typed_manifest import decode_manifest, kind_of
from kubectl_kres.model.kinds import Kind
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.common.system import answers_about, makes_one_pod, require_answers
from kubectl_kres.reports.namespace.counted_object import is_counted
from kubectl_kres.reports.pod.manifest_source import is_there, missing_error
from kubectl_kres.store.store import ReadRequest, Store


def to_plain_data(item: Any) -> dict[str, Any]:
    """Return a manifest as mappings, lists and JSON's values.

    Taken are mappings (kopf's bodies), models of the official clients, synchronous or not (by ``attribute_map``), and
    what has ``to_dict()`` (lightkube), ``raw`` (kr8s) or ``obj`` (pykube). Raises UsageError for anything else.
    """
    result = _build_plain_value(item)
    if isinstance(result, dict):
        return result
    raise UsageError(f"a manifest or an object of a Kubernetes client was expected, not {type(item).__name__}")


def _build_plain_value(item: Any) -> Any:
    if isinstance(item, Number):
        return float(item)
    if item is None or isinstance(item, (str, int, float, bool)):
        return item
    if isinstance(item, Mapping):
        return {str(key): _build_plain_value(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return [_build_plain_value(value) for value in item]
    if hasattr(item, "isoformat"):
        return item.isoformat().replace("+00:00", "Z")
    return _from_client(item)


def _from_client(item: Any) -> Any:
    names = getattr(type(item), "attribute_map", None)
    if isinstance(names, Mapping):
        fields = ((key, getattr(item, name, None)) for name, key in names.items())
        return {key: _build_plain_value(value) for key, value in fields if value is not None}
    for name in ("raw", "obj"):
        result = getattr(item, name, None)
        if isinstance(result, Mapping):
            return _build_plain_value(result)
    if callable(getattr(item, "to_dict", None)):
        return _without_none(_build_plain_value(item.to_dict()))
    raise UsageError(f"{type(item).__module__}.{type(item).__qualname__} is no object of a Kubernetes client")


def _without_none(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _without_none(value) for key, value in item.items() if value is not None}
    return [_without_none(value) for value in item] if isinstance(item, list) else item


#: What must be read for an answer, as far as that is known by now.
Wants = Callable[[Store, Subject], tuple[ReadRequest, ...]]

#: Stands for the file of an object that came from none.
_PASSED = "object"
_IN_STDIN = re.compile(r"^STDIN(:\d+)*: ", re.MULTILINE)
_NO_CLUSTER = "policies=[] answers with no policy but those; cluster= says where to read them"


class Prepared(NamedTuple):
    """Objects to answer for, in a store that the readings fill. ``counted``: those that make no pods, as claims."""

    reading: ReadObjects
    subjects: tuple[Subject, ...]
    options: EvaluationOptions
    counted: tuple[Subject, ...] = ()

    @property
    def store(self) -> Store:
        return self.reading.store


class AnswerScope(NamedTuple):
    """What all functions take beside the object."""

    cluster: Cluster | None
    namespace: str
    policies: Sequence[Any] | None
    kube_version: str


class OtherKinds(NamedTuple):
    """The answers about objects that make no pods: of which kinds, and what is read for one."""

    takes: Callable[[Kind], bool]
    find_reads: Wants


def prepare_answers(
    items: Sequence[Any], frame: AnswerScope, find_reads: Wants, more_reads: OtherKinds | None = None
) -> Prepared:
    """Raises UsageError, InputError, NotFound for a name that nothing has, and ClusterError.

    ``more_reads``: None: there are no answers about objects that make no pods. Quotas, LimitRanges and namespaces
    beside other objects are what those are evaluated with, and not asked about.
    """
    cluster = _cluster(frame)
    space = frame.namespace or cluster.namespace
    named = [item for item in items if isinstance(item, str) and not is_file(item)]
    if named and frame.cluster is None:
        raise UsageError(f"{named[0]}: a name needs a cluster to look it up in: cluster=...")
    manifests = manifests_of([item for item in items if item not in named] if named else items)
    reading = cluster.reading()
    over = Store(reading.store.origin)
    workloads = overlay(over, (*manifests_of(frame.policies or ()), *manifests), namespace=space or "default")
    takes = makes_one_pod if more_reads is None else lambda kind: makes_one_pod(kind) or more_reads.takes(kind)
    of_names = [_named_subject(reading, name, space, takes) for name in named]
    subjects = [
        *(asked_subject for asked_subject in of_names if makes_one_pod(asked_subject.kind)),
        *map(_manifest_subject, workloads),
    ]
    others = [asked_subject for asked_subject in of_names if not makes_one_pod(asked_subject.kind)]
    if more_reads is not None:
        others += _list_counted_subjects(reading, manifests, space or "default")
        if not subjects and not others:
            others += _policies(manifests, space or "default", more_reads.takes)
    pairs = [
        *((subject, find_reads) for subject in subjects),
        *((asked_subject, more_reads.find_reads) for asked_subject in others if more_reads is not None),
    ]
    if not subjects and not others:
        raise UsageError("there is no pod and nothing that makes pods")
    for subject, reads in pairs:
        complete(reading, over, subject, reads)
    for subject in (*subjects, *of_names):
        if subject.raw is None and not is_there(reading.store, subject):
            raise missing_error(reading.store, subject)
    return Prepared(reading, tuple(subjects), server_options(reading.store, frame.kube_version), tuple(others))


def _list_counted_subjects(reading: ReadObjects, manifests: Iterable[Manifest], namespace: str) -> Iterator[Subject]:
    """Claims and what else quotas count of what was passed."""
    for manifest in manifests:
        known_kind, space = kind_of(manifest), manifest.namespace or namespace
        kind = known_kind if known_kind is not None and answers_about(known_kind).counted else counted_kind(manifest)
        if kind is None:
            continue
        subject = Subject(ObjectRef(kind.kind, manifest.ref.name, space), kind, manifest.raw, manifest.file)
        if kind is not known_kind and not is_always_counted(manifest):
            reading.fill([ReadRequest("ResourceQuota", space)])
            if not is_counted(reading.store, subject):
                continue
        yield subject


def _policies(manifests: Iterable[Manifest], namespace: str, takes: Callable[[Kind], bool]) -> Iterator[Subject]:
    """Quotas, LimitRanges and namespaces of what was passed, which are asked about themselves."""
    for manifest in manifests:
        kind = kind_of(manifest)
        if kind is not None and takes(kind):
            space = (manifest.namespace or namespace) if kind.namespaced else ""
            yield Subject(ObjectRef(kind.kind, manifest.ref.name, space), kind)


def _cluster(frame: AnswerScope) -> Cluster:
    if frame.cluster is None and frame.policies is None:
        raise UsageError("neither cluster= nor policies= is given", hint=_NO_CLUSTER)
    return frame.cluster or NoCluster()


def server_options(store: Store, kube_version: str) -> EvaluationOptions:
    """Return the server that is asked: the one that objects were read from, unless another version is named."""
    if kube_version and parse(kube_version) is None:
        raise UsageError(f'kube_version: "{kube_version}" is no version such as 1.33')
    version, assumed = nearest_version(kube_version or store.origin.version)
    server_version = None if kube_version else binary(store.origin.version)
    return EvaluationOptions(
        Server(version, binary=server_version), (assumed,) if assumed else (), store.origin.time, yaml_text.value
    )


def complete(reading: ReadObjects, over: Store, subject: Subject, find_reads: Wants) -> None:
    """Read what the answer needs, which may need more once it is read. ``over``: what replaces what is read."""
    tried: set[ReadRequest] = set()
    reading.store.merge_store(over)
    while new := [read for read in find_reads(reading.store, subject) if read not in tried]:
        tried.update(new)
        reading.fill(new)
        reading.store.merge_store(over)


class ObjectName(str):
    """TYPE/NAME, whatever it looks like: it is never a file."""

    __slots__ = ()


def is_file(text: str) -> bool:
    """Return whether a text names a file, or with a slash at its end a folder, and not TYPE/NAME."""
    return not isinstance(text, ObjectName) and text.endswith((".yaml", ".yml", ".json", "/"))


def manifests_of(items: Iterable[Any]) -> list[Manifest]:
    """Return the objects of files, mappings and clients' models. Raises UsageError, InputError."""
    manifests: list[Manifest] = []
    for item in items:
        if isinstance(item, (str, Path)):
            manifests += read([str(item)], recursive=True, stdin=io.BytesIO())
        else:
            manifests += _read_passed_manifests(item)
    faults: list[InputError] = []
    kept = drop_unversioned(manifests, faults)
    raise_faults(faults)
    return kept


def _read_passed_manifests(item: Any) -> Iterator[Manifest]:
    """Yield the objects that one is: of a List its items. Raises UsageError for what is none."""
    text = io.BytesIO(json.dumps(to_plain_data(item)).encode())
    try:
        manifests = read(["-"], recursive=False, stdin=text)
    except InputError as error:
        raise UsageError(_IN_STDIN.sub(f"{_PASSED}: ", error.message), hint=error.hint) from error
    return (structs.replace(manifest, file=_PASSED, document=None) for manifest in manifests)


def _named_subject(reading: ReadObjects, text: str, space: str, takes: Callable[[Kind], bool]) -> Subject:
    """Return the object of a name. Raises UsageError for a type without answers, before it is read."""
    word, slash, name = text.partition("/")
    if not slash or not name or "/" in name:
        raise UsageError(f'"{text}" is neither a file nor TYPE/NAME such as deploy/web')
    kind = require_answers(reading.kind(word), takes)
    if not kind.namespaced:
        return Subject(ObjectRef(kind.kind, name), kind)
    namespaces = (
        [space] if space else [namespace_ for namespace_, other in reading.store.keys(kind.kind) if other == name]
    )
    if len(namespaces) > 1:
        raise UsageError(f"{text} is in {', '.join(sorted(namespaces))}: namespace=... says which is meant")
    return Subject(ObjectRef(kind.kind, name, namespaces[0] if namespaces else "default"), kind)


def _manifest_subject(manifest: Manifest) -> Subject:
    """Raises InputError at the first field of a wrong type."""
    kind = workload_kind_of(manifest)
    decode_manifest(manifest, kind)
    locate = None if manifest.file == _PASSED else manifest.position_text
    return Subject(manifest.ref, kind, manifest.raw, manifest.file, locate)
