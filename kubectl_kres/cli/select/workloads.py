"""The selection of objects that a command answers for. What their answers need is read into the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from kubectl_kres.cli.args.arguments import (
    NamedObjects,
    fields_match,
    labels_match,
    parse_named_objects,
    refuse_selectors,
)
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import ClusterError, Forbidden, InputError, KresError, NotFound, UsageError, on_one_line
from kubectl_kres.model.admission_objects import is_parameter
from kubectl_kres.model.kinds import BY_KIND, Kind, is_known, is_view
from kubectl_kres.model.objects import ObjectRef, mapping, text
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.workload import Workload
from kubectl_kres.model.workload_kinds import CONTROLLER_REVISION, POD_MAKERS, TEMPLATE_OWNERS
from kubectl_kres.reports.common.explanation import FailedRead, Subject, find_unread, raw_template
from kubectl_kres.reports.common.system import answers_about, kinds_of, makes_one_pod, require_answers
from kubectl_kres.reports.pod.manifest_source import is_there, missing_error
from kubectl_kres.reports.pod.needs import PodOrigin, WorkloadOrigin, list_read_requests, origin_of_workload, pod_origin
from kubectl_kres.store.store import ReadRequest, Store, fill_all

if TYPE_CHECKING:
    from kubectl_kres.manifests.manifest import Manifest


class Selection(Struct, frozen=True):
    """Objects that can be answered for now. The store holds what they need until the next selection is asked for.

    missing: what was named and cannot be read, each with its error. listed: they are a part of a list, whose policies
    could be read but for ``unread``, of which what is not required stands beside the answer. shared: the namespace
    whose quotas of Capsule they are; empty: of all. reason: why there are none. left_out: the kinds of files' objects
    that nothing looks at, each as often as it is there.
    """

    subjects: tuple[Subject, ...]
    errors: tuple[KresError, ...] = ()
    listed: bool = False
    unread: tuple[FailedRead, ...] = ()
    shared: str | None = None
    reason: str = ""
    left_out: tuple[str, ...] = ()


#: Kinds that answers of lists depend on, too, although they can do without: which claims a StatefulSet has made, which
#: pods are of an older template, and what systems name.
_ALWAYS = frozenset({"PersistentVolumeClaim", "ReplicaSet", *kinds_of("in-lists")})

#: What holds the templates of pods: it comes in their order, in a list of all namespaces.
_MADE_FROM = frozenset({*TEMPLATE_OWNERS, CONTROLLER_REVISION.kind})
#: Kinds beside whose list of all namespaces those are read.
_READ_ALONG = ("Pod", "Deployment")

_UNKNOWN = "The files hold nothing of a kind that is known: whether pods come of them is not certain"

#: Namespaces that a hint names.
_SPACES = 3
#: Kinds that are read beside every list.
_BESIDE = ("LimitRange", "ResourceQuota")
#: Where a name is looked for that stands in the place of a type.
_NAMED = (*POD_MAKERS, "Pod")
_AUTOSCALER = "HorizontalPodAutoscaler"
#: So many reads of the pods of one workload are made side by side before all pods are read.
_MOST_OWN = 50
#: What is read once for a page of a list, as far as that is known by now.
NeedsOfList = Callable[[Store, Sequence[Subject]], Iterable[ReadRequest]]
#: What must be read for the answer about one object, as far as that is known by now.
Wants = Callable[[Store, Subject], tuple[ReadRequest, ...]]


def select_subjects(
    source: ObjectSource,
    inputs: Input,
    options: Options,
    words: Sequence[str],
    program: str,
    find_reads: Wants = list_read_requests,
    takes: Callable[[Kind], bool] = makes_one_pod,
    beside: Callable[[Kind], bool] | None = None,
    *,
    changed: bool = False,
    of_list: NeedsOfList = lambda _store, _subjects: (),
) -> Iterator[Selection]:
    """Yield the objects that files or words name: all at once, or page by page where a type is listed.

    ``find_reads``: for objects that are named; of those in a list only what every answer needs is read. ``takes``:
    which kinds there are answers about; beside: the same beside files' workloads, if that is more. ``changed``: files
    beside TYPE/NAME are a change, and what is named is asked about after it. ``of_list``: what is read besides once for
    a page of a list. Raises UsageError, ClusterError if the type or the list cannot be read.
    """
    single = bool(options.container or options.question)
    if options.filenames and changed and words and all("/" in word for word in words):
        yield _after_change(
            source, inputs, parse_named_objects(words, program=program, listing=False), find_reads, takes
        )
        return
    if options.filenames:
        selection = _from_files(source, inputs, options, words, find_reads, beside or takes)
        answered = (beside or takes) is not makes_one_pod and not single and inputs.workloads
        counted = tuple(_counted_beside_workloads(source, inputs, options.selector)) if answered else ()
        yield structs.replace(selection, left_out=_without_kinds(selection.left_out, counted))
        if counted:
            complete(source, counted, find_reads)
            yield Selection(counted, listed=len(inputs.workloads) > 1)
        return
    result = parse_named_objects(words, program=program, listing=not single)
    if any(named_objects.names for named_objects in result):
        refuse_selectors(options, slashes=any("/" in word for word in words))
    if len(words) == 1 and not {",", ".", "/"} & set(words[0]):
        try:
            source.kind(words[0])
        except ClusterError as error:
            yield _by_name(source, words[0], find_reads, error)
            return
    result = tuple(item for named_objects in result for item in _targets(source, named_objects))
    kinds = [require_answers(source.kind(named_objects.type), takes) for named_objects in result]
    if result[0].names:
        yield select_named(source, list(zip(kinds, result, strict=True)), find_reads)
        return
    for kind in kinds:
        yield from _select_pages(source, kind, options, find_reads, of_list)


def _targets(source: ObjectSource, named_objects: NamedObjects) -> Iterator[NamedObjects]:
    """Yield what the named autoscalers scale, which answers for them; anything else as it is.

    Raises NotFound for one that is in none of the namespaces.
    """
    kind = source.kind(named_objects.type) if named_objects.names else None
    if kind is None or kind != BY_KIND[_AUTOSCALER]:
        yield named_objects
        return
    for name in named_objects.names:
        spaces = [*source.candidate_namespaces(kind, name)]
        source.fill([ReadRequest(_AUTOSCALER, space, name) for space in spaces])
        scaled = [item for space in spaces if (item := source.store.get(_AUTOSCALER, name, space)) is not None]
        if not scaled:
            raise fault_of(source, [Subject(ObjectRef(_AUTOSCALER, name, space), kind) for space in spaces])
        for item in scaled:
            target = item.spec.scale_target_ref
            yield NamedObjects(target.kind.lower(), (target.name,))


def _after_change(
    source: ObjectSource,
    inputs: Input,
    names: Sequence[NamedObjects],
    find_reads: Wants,
    takes: Callable[[Kind], bool],
) -> Selection:
    """Return the named objects; those that the files hold are taken from the files."""
    written = {(item.ref.kind, item.ref.name): item for item in asked_for(source, inputs, file_subjects(inputs))}
    pairs = [(require_answers(source.kind(name.type), takes), name) for name in names]
    own_subjects = tuple(
        written[kind.kind, name]
        for kind, named_objects in pairs
        for name in named_objects.names
        if (kind.kind, name) in written
    )
    complete(source, own_subjects, find_reads)
    left = [
        (kind, structs.replace(named_objects, names=rest))
        for kind, named_objects in pairs
        if (rest := tuple(name for name in named_objects.names if (kind.kind, name) not in written))
    ]
    existing = select_named(source, left, find_reads) if left else Selection(())
    return structs.replace(existing, subjects=(*own_subjects, *existing.subjects))


def _by_name(source: ObjectSource, word: str, find_reads: Wants, error: KresError) -> Selection:
    """Return the object of this name where a type was expected. Raises the error that names the expected words."""
    kinds = [BY_KIND[kind] for kind in _NAMED]
    result = select_named(source, [(kind, NamedObjects(kind.kind, (word,))) for kind in kinds], find_reads)
    if not result.subjects:
        close = [name for kind in kinds for name in _close(source, kind, word)]
        error.hint = f"did you mean {' or '.join(close[:3])}?" if close else error.hint
        raise error
    return Selection(result.subjects)


def _close(source: ObjectSource, kind: Kind, name: str) -> list[str]:
    """Return arguments that name objects of the kind with a similar name."""
    from difflib import get_close_matches  # only a mistyped name needs it

    names: list[str] = []
    for space in source.namespaces if kind.namespaced else ("",):
        try:
            source.fill((ReadRequest(kind.kind, space, required=False),))
        except ClusterError:
            continue
        names += [item.metadata.name for item in source.store.all(kind.kind, space)]
    return [f"{kind.names[1]}/{on_one_line(close)}" for close in get_close_matches(name, dict.fromkeys(names), 3, 0.6)]


def _from_files(
    source: ObjectSource,
    inputs: Input,
    options: Options,
    words: Sequence[str],
    find_reads: Wants,
    takes: Callable[[Kind], bool],
) -> Selection:
    from kubectl_kres.manifests.read import raise_faults

    if any("/" in word for word in words):
        raise UsageError("resource/name arguments cannot be provided when a path is specified")
    if words:
        raise UsageError(
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
        )
    if options.field_selector:
        raise UsageError("--field-selector does not go with -f")
    subjects, unknown = asked_for(source, inputs, file_subjects(inputs, options.selector)), tuple(_unknown(inputs))
    if not inputs.workloads:
        subjects = _policies_in_files(inputs, options.selector, takes)
        counted = _with_counted(source, inputs, options, subjects, find_reads) if takes is not makes_one_pod else None
        if counted is not None:
            return structs.replace(counted, unread=unknown)
        if not subjects:
            raise_faults(inputs.left_out)
            if not unknown:
                raise _no_pods_error(inputs, options)
            # What an unknown kind makes is not known, which is no fault of the input.
            return Selection((), unread=unknown, left_out=_left_out(inputs, options.selector), reason=_UNKNOWN)
        unknown = ()
    elif not subjects:
        raise_faults(inputs.left_out)
    complete(source, subjects, find_reads)
    return Selection(tuple(subjects), unread=unknown, left_out=_left_out(inputs, options.selector))


def _with_counted(
    source: ObjectSource, inputs: Input, options: Options, subjects: Sequence[Subject], find_reads: Wants
) -> Selection | None:
    """Return the objects that quotas merely count, those beside policies only if a quota counts them; else None."""
    from kubectl_kres.reports.namespace.counted_object import is_counted

    explained = {subject.ref for subject in subjects}
    others = [
        counted_subject
        for counted_subject in _count_only_objects(source, inputs, options.selector)
        if counted_subject.ref not in explained
    ]
    if subjects:
        others = [other for other in others if is_counted(source.store, other)]
    if not others:
        return None
    complete(source, [*subjects, *others], find_reads)
    return Selection((*subjects, *others), left_out=_without_kinds(_left_out(inputs, options.selector), others))


def _counted_beside_workloads(source: ObjectSource, inputs: Input, selector: str) -> Iterator[Subject]:
    """Yield claims and Services of files, and of what quotas merely count the objects that a quota does count."""
    from kubectl_kres.reports.namespace.counted_object import is_counted, is_counted_object

    for subject in counted_in_files(source, inputs, selector):
        if not is_counted_object(subject.kind) or is_counted(source.store, subject):
            yield subject


def _without_kinds(left_out: Sequence[str], answered: Iterable[Subject]) -> tuple[str, ...]:
    """Return the kinds of what nothing looks at without those that are answered, each as often as it is there."""
    left = Counter(left_out)
    left.subtract(Counter(subject.ref.kind for subject in answered))
    return tuple((+left).elements())


def definitions_in_files(inputs: Input, selector: str) -> list[Subject]:
    """Return the objects of files that say how pods are made and that make none themselves, as Tasks."""

    def defines(kind: Kind) -> bool:
        answers = answers_about(kind)
        return bool(answers.explained) and answers.as_sent and not answers.counted

    return _policies_in_files(inputs, selector, defines)


def counted_in_files(source: ObjectSource, inputs: Input, selector: str) -> list[Subject]:
    """Return the objects of files that quotas count and that make no pods."""
    policies = _policies_in_files(inputs, selector, lambda kind: answers_about(kind).counted)
    return [*{subject.ref: subject for subject in (*_count_only_objects(source, inputs, selector), *policies)}.values()]


def refs_that_quotas_count(source: ObjectSource, inputs: Input) -> frozenset[ObjectRef]:
    """Return the objects of files that a quota counts, and of which nothing else is looked at."""
    from kubectl_kres.reports.namespace.counted_object import is_counted

    others = _count_only_objects(source, inputs)
    return frozenset(other.ref for other in others if is_counted(source.store, other))


def _count_only_objects(source: ObjectSource, inputs: Input, selector: str = "") -> list[Subject]:
    """Return the objects of files that quotas merely count: always counted ones, and those a quota names."""
    from kubectl_kres.manifests.overlay import counted_kind, is_always_counted
    from kubectl_kres.reports.namespace.counted_object import deciding_needs, is_counted

    fits = labels_match(selector)
    subjects: list[Subject] = []
    for manifest in inputs.manifests:
        labels, kind = manifest.metadata.get("labels"), counted_kind(manifest)
        if kind is None or not fits(labels if isinstance(labels, Mapping) else {}):
            continue
        space = manifest.namespace or inputs.namespace
        subject = Subject(ObjectRef(manifest.kind, manifest.ref.name, space), kind, manifest.raw, manifest.file)
        for _ in range(2):  # whose the namespace is tells what else decides
            source.fill(deciding_needs(source.store, space))
        if is_always_counted(manifest) or is_counted(source.store, subject):
            subjects.append(subject)
    return subjects


def _left_out(inputs: Input, selector: str) -> tuple[str, ...]:
    from kubectl_kres.manifests.overlay import is_left_out

    left = ((manifest.kind, manifest.metadata.get("labels")) for manifest in inputs.manifests if is_left_out(manifest))
    return tuple(kind for kind, item in left if labels_match(selector)(item if isinstance(item, Mapping) else {}))


def _unknown(inputs: Input) -> Iterator[FailedRead]:
    """Yield the objects of kinds that are not known: whether they make pods, and which, is not known either."""
    from kubectl_kres.manifests.overlay import is_left_out
    from kubectl_kres.manifests.typed_manifest import kind_of
    from kubectl_kres.model.pod_places import may_make_pods

    for manifest in inputs.manifests:
        group = manifest.api_version.rpartition("/")[0]
        if kind_of(manifest) is None and is_left_out(manifest) and may_make_pods(group, manifest.kind):
            ref = manifest.ref
            text = f"whether a {manifest.kind} of {manifest.api_version} makes pods is not known"
            yield FailedRead(manifest.kind, "failed", ref.namespace, ref.name, text)


def _no_pods_error(inputs: Input, options: Options) -> UsageError:
    """Return the sentence that the files hold nothing to answer for; of an object the path that it lacks."""
    from kubectl_kres.manifests.typed_manifest import kind_of

    for manifest in inputs.manifests:
        if kind_of(manifest) is not None:
            continue
        try:
            raw_template(manifest.raw)
        except UsageError as error:
            return UsageError(f"{manifest.file}: {error.message}")
    return UsageError(f"{', '.join(options.filenames)}: there is no pod and nothing that makes pods")


def file_subjects(inputs: Input, selector: str = "") -> list[Subject]:
    """Return the pods, and the makers of pods, in the files; a field of a wrong type is a fault of the input."""
    fits = labels_match(selector)
    subjects: list[Subject] = []
    inputs.mistyped.clear()
    for manifest in inputs.workloads:
        try:
            if fits(manifest.metadata.get("labels") or {}):
                subjects.append(_manifest_subject(manifest))
        except InputError as error:
            inputs.mistyped.append(error)
    return subjects


def asked_for(source: ObjectSource, inputs: Input, subjects: Iterable[Subject]) -> list[Subject]:
    """Files' objects, those of kinds that are not known here with what the server, or a file, says of the kind."""
    definitions = (manifest for manifest in inputs.manifests if manifest.kind == "CustomResourceDefinition")
    defined = {_read_defined_kind(manifest) for manifest in definitions}

    def is_served(subject: Subject) -> bool:
        kind = subject.kind
        known = is_known(kind) or (kind.kind, kind.group) in defined
        return known or source.serves_kind(kind.kind, kind.api_version)

    return [structs.replace(subject, is_served=is_served(subject)) for subject in subjects]


def _read_defined_kind(definition: Manifest) -> tuple[str, str]:
    """Kind and group that a CustomResourceDefinition brings."""
    spec = mapping(definition.raw, "spec")
    return text(mapping(spec, "names"), "kind"), text(spec, "group")


def _policies_in_files(inputs: Input, selector: str, takes: Callable[[Kind], bool]) -> list[Subject]:
    """Files without workloads are asked about themselves."""
    fits = labels_match(selector)
    raws = {
        (manifest.kind, manifest.namespace, manifest.ref.name): manifest.raw
        for manifest in inputs.manifests
        if manifest.kind in BY_KIND and answers_about(BY_KIND[manifest.kind]).as_sent
    }
    return [
        Subject(
            ref := ObjectRef(kind.kind, item.metadata.name, item.metadata.namespace),
            kind,
            raws.get((ref.kind, ref.namespace, ref.name), raws.get((ref.kind, "", ref.name))),
        )
        for kind in map(BY_KIND.__getitem__, inputs.policies.kinds())
        if takes(kind)
        for item in inputs.policies.all(kind.kind)
        if fits(item.metadata.labels or {})
    ]


def _manifest_subject(manifest: Manifest) -> Subject:
    """Raises InputError at the first field of a wrong type."""
    from kubectl_kres.manifests.overlay import workload_kind_of
    from kubectl_kres.manifests.typed_manifest import decode_manifest

    kind = workload_kind_of(manifest)
    decode_manifest(manifest, kind)
    return Subject(manifest.ref, kind, manifest.raw, manifest.file, manifest.position_text)


def select_named(
    source: ObjectSource, wanted: Iterable[tuple[Kind, NamedObjects]], find_reads: Wants = list_read_requests
) -> Selection:
    """Return each name in each namespace; one that is in none of them is missing, as is what may not be read."""
    groups = [
        [Subject(ObjectRef(kind.kind, name, space), kind) for space in source.candidate_namespaces(kind, name)]
        for kind, objects in wanted for name in objects.names
    ]  # fmt: skip
    complete(source, [subject for group in groups for subject in group], find_reads)
    subjects: list[Subject] = []
    missing: list[KresError] = []
    for group in groups:
        existing = [subject for subject in group if is_there(source.store, subject)]
        subjects += existing
        if not existing:
            missing.append(fault_of(source, group))
    return Selection(tuple(subjects), tuple(missing))


def one_named(
    source: ObjectSource, inputs: Input, flag: str, word: str, find_reads: Wants = list_read_requests
) -> Selection:
    """Return the object that a flag names as TYPE/NAME or as a unique name. Raises UsageError, ClusterError."""
    head, slash, name = word.partition("/")
    expected = UsageError(f'invalid argument "{word}" for "{flag}" flag: TYPE/NAME is expected, as deploy/web')
    if head and not slash:
        return _select_only_object(source, inputs, head, find_reads, expected)
    if not head or not name or "/" in name:
        raise expected
    kind = require_answers(source.kind(head))
    subjects = [item for item in file_subjects(inputs) if (item.ref.kind, item.ref.name) == (kind.kind, name)]
    complete(source, subjects, find_reads)
    if subjects:
        return Selection(tuple(subjects))
    return select_named(source, [(kind, NamedObjects(head, (name,)))], find_reads)


def _select_only_object(
    source: ObjectSource, inputs: Input, name: str, find_reads: Wants, expected: UsageError
) -> Selection:
    """Return the one object of a name. Raises the error that says what is expected, of none and of several."""
    subjects = tuple(subject for subject in file_subjects(inputs) if subject.ref.name == name)
    complete(source, subjects, find_reads)
    result = Selection(subjects) if subjects else _by_name(source, name, find_reads, expected)
    if len(result.subjects) > 1:
        expected.hint = f"there are {' and '.join(str(subject.ref) for subject in result.subjects)}"
        raise expected
    return result


def fault_of(source: ObjectSource, group: Sequence[Subject]) -> ClusterError:
    """Return why an object is in none of the places where it was looked for; that one could not be read comes first."""
    faults = [missing_error(source.store, subject) for subject in group]
    cluster_error = next((fault for fault in faults if not isinstance(fault, NotFound)), faults[0])
    if isinstance(cluster_error, NotFound) and len(group) == 1 and not cluster_error.hint:
        from kubectl_kres.reports.pod.preflight import namespace_needs, no_namespace

        space = group[0].ref.namespace
        source.fill(namespace_needs(source.store, space))
        absent = no_namespace(source.store, space)
        close = _close(source, group[0].kind, group[0].ref.name) if absent is None else []
        similar = f"did you mean {' or '.join(close)}?" if close else ""
        suggestion = _find_other_namespaces(source, group[0]) or similar
        cluster_error.hint = (
            f'there is no namespace "{on_one_line(space)}" (--namespace)' if absent is not None else suggestion
        )
    return cluster_error


def _find_other_namespaces(source: ObjectSource, subject: Subject) -> str:
    """Return in which other namespaces there is an object of this kind and name; empty: in none that can be seen."""
    ref, kind = subject.ref, subject.kind
    if not kind.namespaced:
        return ""
    try:
        source.fill((ReadRequest(kind.kind, field_selector=f"metadata.name={ref.name}", required=False),))
    except ClusterError:
        return ""
    spaces = [item.metadata.namespace for item in source.store.all(kind.kind) if item.metadata.name == ref.name]
    if not spaces:
        return ""
    shown = " or ".join(f"-n {on_one_line(space)}" for space in spaces[:_SPACES])
    more = f", and in {len(spaces) - _SPACES} more namespaces" if len(spaces) > _SPACES else ""
    return f"it exists in {'another namespace' if len(spaces) == 1 else 'other namespaces'}: {shown}{more}"


def _select_pages(
    source: ObjectSource, kind: Kind, options: Options, find_reads: Wants, more: NeedsOfList
) -> Iterator[Selection]:
    """Page by page. Of the cluster only the policies are read beside them, and what the pods were made from."""
    from kubectl_kres.reports.explain.object_state import state_needs

    find_reads = list_read_requests if makes_one_pod(kind) else find_reads
    spaces = (source.namespaces or ("",)) if kind.namespaced else ("",)
    several = len(spaces) > 1
    for space in spaces:
        policies = (ReadRequest("LimitRange", space), ReadRequest("ResourceQuota", space))
        source.fill(policies)
        failed_reads = tuple(find_unread(source.store, policies))
        read = ReadRequest(kind.kind, space, label_selector=options.selector, field_selector=options.field_selector)
        for page in readable(
            _policies_in_store(source, read) if kind.kind in _BESIDE else source.pages(read), several=several
        ):
            if isinstance(page, Forbidden):
                yield Selection((), (page,))
                continue
            subjects = tuple(
                Subject(ObjectRef(kind.kind, item.metadata.name, item.metadata.namespace), kind) for item in page
            )
            complete(source, subjects, find_reads, space, listed=True, along=kind.kind in _READ_ALONG and not space)
            source.fill(state_needs(source.store, subjects))
            fill_all(source, partial(more, source.store, subjects))  # drivers are known once pods are
            yield Selection(subjects, listed=True, unread=failed_reads)


def readable(pages: Iterator[list[Any]], *, several: bool) -> Iterator[list[Any] | Forbidden]:
    """Yield the pages; an unreadable one of ``several`` namespaces is reported, and a single one raises."""
    try:
        yield from pages
    except Forbidden as error:
        if not several:
            raise
        yield error


def _policies_in_store(source: ObjectSource, read: ReadRequest) -> Iterator[list[Any]]:
    """Yield a list of policies, which are all in the store, since each answer looks at those beside it."""
    wide_read = ReadRequest(read.kind, read.namespace)
    if not source.store.covered(wide_read).has_all_objects:
        raise fault_of(source, [Subject(ObjectRef(read.kind, "", read.namespace), BY_KIND[read.kind])])
    labels, fields = labels_match(read.label_selector), fields_match(read.field_selector, read.kind)
    yield [
        item
        for item in source.store.all(read.kind, read.namespace or None)
        if labels(item.metadata.labels or {}) and fields(item)
    ]


def complete(
    source: ObjectSource,
    subjects: Iterable[Subject],
    find_reads: Wants,
    scope: str = "",
    *,
    listed: bool = False,
    along: bool = False,
) -> None:
    """Read all that the answers need, which may need more once it is read.

    listed: what only adds to an answer is left out, and of what pods were made from the whole of ``scope`` is read,
    since one request for each of many objects would take longer; ``along``: as far as the subjects have come.
    """
    subjects = tuple(_select_distinct_pods(source.store, subjects) if listed else subjects)
    tried: set[ReadRequest] = set()
    while True:
        reads: dict[ReadRequest, None] = {}
        for subject in _select_distinct_workloads(source.store, subjects) if listed else subjects:
            for read in find_reads(source.store, subject):
                decides = read.kind in _ALWAYS or is_parameter(read.kind)
                if listed and not (read.required or subject.ref.kind == "Pod" or decides):
                    continue
                if is_view(read.kind) and (listed or (subject.raw is not None and len(subjects) > 1)):
                    continue  # of a list they are read for the page
                if source.store.should_read(read):
                    if along and read.kind in _MADE_FROM:
                        reads[ReadRequest(read.kind, read.namespace, required=False)] = None
                    else:
                        # Few workloads lack pods: theirs alone are read, and not all that there are.
                        reads_own_pods = read.kind == "Pod" and read.label_selector and len(reads) < _MOST_OWN
                        reads[_widen_request(read, scope) if listed and not reads_own_pods else read] = None
        new = reads.keys() - tried
        if not new:
            return
        tried |= new
        more_reads = [read for read in reads if read in new and along and read.kind in _MADE_FROM]
        source.fill_in_order(more_reads)
        if len(more_reads) == len(new):
            return  # what a pod was made from needs nothing more
        source.fill(read for read in reads if read in new and read not in more_reads)


def _select_distinct_pods(store: Store, subjects: Iterable[Subject]) -> Iterator[Subject]:
    """Of listed pods that need the same yield only the first: that they themselves were read is known.

    Of what pods were made from all of a kind is read, whichever of it made them.
    """
    met: set[PodOrigin] = set()
    for subject in subjects:
        item = store.get("Pod", subject.ref.name, subject.ref.namespace) if subject.ref.kind == "Pod" else None
        if isinstance(item, Pod):
            origin = pod_origin(item)
            if origin.kind in TEMPLATE_OWNERS and not (origin.waits or origin.starts):
                origin = structs.replace(origin, owner="")
            if origin in met:
                continue
            met.add(origin)
        yield subject


def _select_distinct_workloads(store: Store, subjects: Iterable[Subject]) -> Iterator[Subject]:
    """The same of listed workloads, by what is known of them so far."""
    met: set[WorkloadOrigin] = set()
    for subject in subjects:
        ref = subject.ref
        item = store.get(ref.kind, ref.name, ref.namespace) if ref.kind != "Pod" and subject.raw is None else None
        origin = origin_of_workload(store, ref.kind, item) if isinstance(item, Workload) else None
        if origin is not None:
            if origin in met:
                continue
            met.add(origin)
        yield subject


def _widen_request(read: ReadRequest, scope: str) -> ReadRequest:
    """Return all of a kind in the scope instead of a part; of what is never listed, and of one namespace, itself."""
    kind = BY_KIND.get(read.kind)
    if kind is None or not kind.listed or (scope and read.kind == "Namespace"):
        return read
    part = read.name or read.label_selector or (read.kind in _ALWAYS and not scope and read.namespace)
    if not part:
        return read
    return ReadRequest(read.kind, scope if kind.namespaced else "", required=read.required)
