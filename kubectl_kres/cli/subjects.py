"""The objects that a command is asked about, each with all that its answer needs in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kubectl_kres.cli.arguments import Asked, asked, refuse_selectors
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.selector import labels_match
from kubectl_kres.cli.source import Input, Source
from kubectl_kres.errors import ClusterError, Forbidden, InputError, KresError, NotFound, UsageError
from kubectl_kres.manifests.manifest import Manifest
from kubectl_kres.manifests.read import refuse
from kubectl_kres.manifests.typed import kind_of, typed
from kubectl_kres.model.kinds import Kind
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.explanation import Unseen
from kubectl_kres.reports.needs import needs
from kubectl_kres.reports.policies import unread
from kubectl_kres.reports.subject import Subject
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store


class Found(NamedTuple):
    """Objects whose answers can be made now, from the store as it is until the next ones are asked for.

    missing: what was named and cannot be read, each with its error. listed: they are a part of a list, whose policies
    could be read but for ``unseen``.
    """

    subjects: tuple[Subject, ...]
    missing: tuple[KresError, ...] = ()
    listed: bool = False
    unseen: tuple[Unseen, ...] = ()


#: What must be read for the answer about one object, as far as that is known by now.
Wants = Callable[[Store, Subject], tuple[Need, ...]]


def chosen(
    source: Source, given: Input, options: Options, words: Sequence[str], program: str, wants: Wants = needs
) -> Iterator[Found]:
    """The objects that files or words name: all at once, or page by page where a type is listed.

    ``wants``: for objects that are named; of those in a list only what every answer needs is read.
    Raises UsageError, ClusterError if the type or the list cannot be read.
    """
    single = bool(options.container or options.question)
    if options.filenames:
        yield _from_files(source, given, options, words, wants)
        return
    found = asked(words, program=program, listing=not single)
    selector = bool(options.selector or options.field_selector)
    slashes = any("/" in word for word in words)
    refuse_selectors(found, slashes=slashes, selector=selector, everywhere=options.all_namespaces)
    kinds = [_making_pods(source.kind(one.type)) for one in found]
    if found[0].names:
        yield _named(source, [(kind, one) for kind, one in zip(kinds, found, strict=True)], wants)
        return
    for kind in kinds:
        yield from _listed(source, kind, options)


def _making_pods(kind: Kind) -> Kind:
    if kind.struct in {Pod, Workload}:
        return kind
    raise UsageError(f"{kind.qualified} hold no pod template", hint="name pods, or what makes pods, as deployments")


def _from_files(source: Source, given: Input, options: Options, words: Sequence[str], wants: Wants) -> Found:
    if any("/" in word for word in words):
        raise UsageError("resource/name arguments cannot be provided when a path is specified")
    if words:
        raise UsageError(
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
        )
    if options.field_selector:
        raise UsageError("--field-selector does not go with -f")
    if not given.workloads:
        raise UsageError(f"{', '.join(options.filenames)}: there is no pod and nothing that makes pods")
    fits = labels_match(options.selector)
    subjects: list[Subject] = []
    faults: list[InputError] = []
    for manifest in given.workloads:
        try:
            if fits(manifest.metadata.get("labels") or {}):
                subjects.append(_of_manifest(manifest))
        except InputError as error:
            faults.append(error)
    refuse(faults)
    _complete(source, subjects, wants)
    return Found(tuple(subjects))


def _of_manifest(manifest: Manifest) -> Subject:
    """Raises InputError at the first field of a wrong type."""
    kind = kind_of(manifest)
    if kind is None:
        group, _, version = manifest.api_version.rpartition("/")
        name = manifest.kind.lower()
        kind = Kind(manifest.kind, (f"{name}s", name), group, version, struct=Workload)
    typed(manifest, kind)
    return Subject(manifest.ref, kind, manifest.raw, manifest.file)


def _named(source: Source, wanted: Iterable[tuple[Kind, Asked]], wants: Wants) -> Found:
    """Each name in each namespace; one that is in none of them is missing, as is what may not be read."""
    groups = [
        [Subject(ObjectRef(kind.kind, name, space), kind) for space in source.places(kind, name)]
        for kind, one in wanted
        for name in one.names
    ]
    _complete(source, [subject for group in groups for subject in group], wants)
    subjects: list[Subject] = []
    missing: list[KresError] = []
    for group in groups:
        there = [one for one in group if source.store.get(one.ref.kind, one.ref.name, one.ref.namespace) is not None]
        subjects += there
        if not there:
            missing.append(next(filter(None, (_unread(source, one) for one in group)), _not_found(group[0])))
    return Found(tuple(subjects), tuple(missing))


def _unread(source: Source, subject: Subject) -> ClusterError | None:
    """Why an object could not be read; None if it is known not to exist."""
    ref = subject.ref
    coverage = source.store.covered(Need(ref.kind, ref.namespace, ref.name))
    if coverage.state == "denied":
        return Forbidden(coverage.message, code=403, reason="Forbidden")
    if coverage.state in {"failed", "unread"}:
        return ClusterError(coverage.message or f"{ref} could not be read")
    return None


def _not_found(subject: Subject) -> NotFound:
    return NotFound(f'{subject.kind.qualified} "{subject.ref.name}" not found', code=404, reason="NotFound")


def _listed(source: Source, kind: Kind, options: Options) -> Iterator[Found]:
    """Page by page. Of the cluster only the policies are read beside them, and what the pods were made from."""
    for space in (source.namespaces or ("",)) if kind.namespaced else ("",):
        policies = (Need("LimitRange", space), Need("ResourceQuota", space))
        source.fill(policies)
        unseen = tuple(
            Unseen(one.kind, state, space, message=message) for one, state, message in unread(source.store, policies)
        )
        need = Need(kind.kind, space, label_selector=options.selector, field_selector=options.field_selector)
        for page in source.pages(need):
            subjects = tuple(
                Subject(ObjectRef(kind.kind, one.metadata.name, one.metadata.namespace), kind) for one in page
            )
            _complete(source, subjects, needs, scope=space, listed=True)
            yield Found(subjects, listed=True, unseen=unseen)


def _complete(
    source: Source, subjects: Iterable[Subject], wants: Wants, scope: str = "", *, listed: bool = False
) -> None:
    """Read all that the answers need, which may need more once it is read.

    listed: what only adds to an answer is left out, and of what pods were made from the whole of ``scope`` is read,
    since one request for each of many objects would take longer.
    """
    subjects = tuple(subjects)
    tried: set[Need] = set()
    while True:
        wanted: dict[Need, None] = {}
        for subject in subjects:
            for need in wants(source.store, subject):
                if listed and not (need.required or subject.ref.kind == "Pod"):
                    continue
                if source.store.covered(need).state == "unread":
                    wide = need.name and listed
                    wanted[Need(need.kind, scope, required=need.required) if wide else need] = None
        new = wanted.keys() - tried
        if not new:
            return
        tried |= new
        source.fill(need for need in wanted if need in new)
