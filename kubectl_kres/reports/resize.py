"""The effect of a resize of a running pod: allowed or not, with fixes, what changes and restarts, and how much more
quotas use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs

from kubectl_kres.admission.base.draft import SIDES, Draft, Quantities, parse_list
from kubectl_kres.admission.base.field_errors import invalid
from kubectl_kres.admission.base.outcome import Outcome, QuotaCharge, Refusal, invalid_object
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import compute_class, sum_pod
from kubectl_kres.admission.pod.defaulting import decoded_draft
from kubectl_kres.admission.resize import RESIZABLE, Change, changes, same_containers
from kubectl_kres.admission.resize import resize as put_resize
from kubectl_kres.errors import NotFound, UsageError
from kubectl_kres.model.objects import ObjectRef, decode_object
from kubectl_kres.model.pod import Node, Pod
from kubectl_kres.provenance.journal import Assumption, Journal
from kubectl_kres.record import Record, Wording
from kubectl_kres.reports.common.effective_policies import policies
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, Subject, Verdict, find_unread
from kubectl_kres.reports.common.nodes import node_of
from kubectl_kres.reports.common.remedy import Remedy, untested_remedies
from kubectl_kres.reports.pod.feature_gates import gates
from kubectl_kres.reports.pod.needs import needs_with_node
from kubectl_kres.reports.pod.verdict import verdict_of, with_outcome
from kubectl_kres.reports.remedies.context import RemedyContext, RemedyTexts, quota_excess
from kubectl_kres.reports.remedies.pod_remedy import remedies
from kubectl_kres.reports.remedies.refusal_fixes import (
    GrowLess,
    KeepClass,
    NameStoredContainers,
    WithinFeatures,
    WithinNode,
)
from kubectl_kres.store.store import Store


def _kept_class(case: RemedyContext) -> Iterator[Wording]:
    stored = re.search(r'Invalid value: "(\w+)"', case.finding.text)
    yield KeepClass(stored[1] if stored else "", pod_level=case.draft is not None and case.draft.pod is not None)


def _node_capacity_remedies(case: RemedyContext) -> Iterator[Wording]:
    yield WithinNode(_source_name(case), case.finding.resource, case.finding.limit)


def _features(case: RemedyContext) -> Iterator[Wording]:
    yield WithinFeatures(_source_name(case), case.finding.observed)


def _exceeded_quota_remedies(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of a full quota: a resize costs only what grows."""
    name, quota, result = case.finding.resource, _source_name(case), quota_excess(case.finding)
    if result is None:
        yield GrowLess(name, quota, resize=True)
        return
    left = result.hard - result.used
    yield GrowLess(
        name, quota, str(result.after), str(result.shortage), str(left) if left.nano > 0 else "", resize=True
    )


def _source_name(case: RemedyContext) -> str:
    return case.finding.source.name if case.finding.source is not None else ""


REMEDIES: Mapping[str, RemedyTexts] = {
    "quota/exceeded": _exceeded_quota_remedies,
    "resize/qos": _kept_class,
    "resize/node-features": _features,
    "resize/node-capacity": _node_capacity_remedies,
}


_FORM = 'a patch looks like {"spec": {"containers": [{"name": "app", "resources": {"limits": {"cpu": "1"}}}]}}'
_LISTS = ("containers", "initContainers")
#: What a resize keeps of a container; the rest of what is sent is taken from the stored pod.
_KEPT = ("name", "resources", "resizePolicy")
#: What ``kubectl edit`` adds to say in which order a list stood.
_ORDER = "$setElementOrder/"


def patch_pod(stored: Pod, patch: Any) -> tuple[Pod, tuple[str, ...]]:
    """Return the pod as it would be sent, and the paths of the patch that a resize does not look at.

    Containers merge by name, those of the patch in its order, maps merge, null removes. Raises UsageError for what is
    no patch of a pod.
    """
    if not isinstance(patch, Mapping):
        raise UsageError(f"--resize: an object is expected, not {_format_type(patch)}", hint=_FORM)
    wrong = sorted(patch.keys() & {*_LISTS, "resources", "name"})
    if wrong or "spec" not in patch:
        raise UsageError(f"--resize: {wrong[0]} belongs below spec" if wrong else "--resize: no spec", hint=_FORM)
    spec = patch["spec"]
    if not isinstance(spec, Mapping):
        raise UsageError(f"--resize: spec is an object, not {_format_type(spec)}", hint=_FORM)
    raw = msgspec.to_builtins(stored, enc_hook=str)  # numbers of a file are a kind of text that is not encoded
    result = dict(raw.get("spec") or {})
    for key in _LISTS:
        if spec.get(key) is not None:
            order = spec.get(f"{_ORDER}{key}")
            result[key] = _containers(result.get(key) or [], spec[key], f"spec.{key}", order)
    if "resources" in spec:
        result["resources"] = _merge_maps(result.get("resources"), spec["resources"], "spec.resources")
    try:
        return decode_object({**raw, "spec": result}, type(stored)), tuple(_ignored_fields(patch))
    except msgspec.ValidationError as error:
        raise UsageError(f"--resize: {error}", hint=_FORM) from error


def _containers(value: list[dict[str, Any]], sent: Any, path: str, order: Any) -> list[dict[str, Any]]:
    """Return the containers after the patch. ``order``: the list's order in the patch of ``kubectl edit``, None if
    absent.
    """
    if not isinstance(sent, list):
        raise UsageError(f"--resize: {path} is a list, not {_format_type(sent)}", hint=_FORM)
    by_name = {mapping["name"]: dict(mapping) for mapping in value if mapping.get("name")}
    for index, item in enumerate(sent):
        item_path = f"{path}[{index}]"
        if not isinstance(item, Mapping):
            raise UsageError(f"--resize: {item_path} is an object, not {_format_type(item)}", hint=_FORM)
        if not isinstance(item.get("name"), str):
            raise UsageError(f"--resize: {item_path} has no name: containers are found by it", hint=_FORM)
        if item.get("$patch") == "delete":
            by_name.pop(item["name"], None)
            continue
        _refuse_directives(item, item_path)
        container = by_name.setdefault(item["name"], {"name": item["name"], "image": item.get("image") or ""})
        if "resources" in item:
            container["resources"] = _merge_maps(
                container.get("resources"), item["resources"], f"{item_path}.resources"
            )
        if "resizePolicy" in item:
            container["resizePolicy"] = item["resizePolicy"]
    wanted = order if isinstance(order, list) else sent
    names = [item.get("name") for item in wanted if isinstance(item, Mapping)]
    return _sort_containers(list(by_name.values()), names, [mapping.get("name") for mapping in value])


def _sort_containers(merged: list[dict[str, Any]], wanted: list[Any], stored: list[Any]) -> list[dict[str, Any]]:
    """Return the containers in the order of a strategic merge: as in the patch, and unnamed ones before their old
    successors.

    Source: apimachinery util/strategicpatch normalizeElementOrder, mergeSortedSlice.
    """
    left = [mapping for mapping in merged if mapping["name"] not in wanted]
    right = sorted(
        (mapping for mapping in merged if mapping["name"] in wanted), key=lambda mapping: wanted.index(mapping["name"])
    )
    result: list[dict[str, Any]] = []
    while left and right:
        is_known = left[0]["name"] in stored and right[0]["name"] in stored
        before = is_known and stored.index(left[0]["name"]) < stored.index(right[0]["name"])
        result.append((left if before else right).pop(0))
    return [*result, *left, *right]


def _merge_maps(item: Any, sent: Any, path: str) -> Any:
    """Return the maps merged key by key; any other value replaces the old one, and null removes it."""
    if not isinstance(sent, Mapping):
        return sent
    _refuse_directives(sent, path)
    result = dict(item) if isinstance(item, Mapping) else {}
    for key, value in sent.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge_maps(result.get(key), value, f"{path}.{key}")
    return result


def _refuse_directives(sent: Mapping[str, Any], path: str) -> None:
    text = next((key for key in sent if key.startswith("$")), None)
    if text is not None:
        raise UsageError(f"--resize: {path}: the directive {text} is not supported", hint="write the values instead")


def refused_patch(patch: Mapping[str, Any], refusal: Refusal) -> Refusal:
    """Return the 422 for a quantity that does not parse: the server names the whole patch, in the form in which Go
    prints it.

    Source: apiserver endpoints/handlers/patch.go strategicPatchObject, which has used up lists with an order by then.
    """
    spec = patch["spec"]
    ordered = {key.removeprefix(_ORDER) for key in spec if key.startswith(_ORDER)}
    left = {key: value for key, value in spec.items() if key not in ordered and not key.startswith(_ORDER)}
    finding = refusal.findings[0]
    error = invalid("patch", _format_go_value({**patch, "spec": left}), finding.text, finding.rule)
    result = invalid_object("", "", [error])
    return structs.replace(result, findings=(structs.replace(finding, text=str(error)),))


def _format_go_value(value: Any) -> str:
    """Return the value as Go's %v prints it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case Mapping():
            return f"map[{' '.join(f'{key}:{_format_go_value(item)}' for key, item in sorted(value.items()))}]"
        case list():
            return f"[{' '.join(map(_format_go_value, value))}]"
    return str(value)


def _ignored_fields(patch: Mapping[str, Any]) -> Iterator[str]:
    yield from (key for key in patch if key not in {"spec", "apiVersion", "kind", "metadata"})
    spec = patch["spec"]
    for key, value in spec.items():
        if key in _LISTS:
            yield from (
                f"spec.{key}[{index}].{field}"
                for index, item in enumerate(value or ())
                for field in item
                if field not in _KEPT and not field.startswith("$")
            )
        elif key != "resources" and not key.startswith(_ORDER):
            yield f"spec.{key}"


def _format_type(value: Any) -> str:
    return {list: "a list", dict: "an object", str: "text", bool: "true or false", type(None): "nothing"}.get(
        type(value), "a number"
    )


class Sum(Record, frozen=True):
    """The pod's effective figure before and after; ``allocatable`` of its node, where that is known."""

    side: str
    resource: str
    before: str = ""
    after: str = ""
    allocatable: str = ""


class Resize(Record, frozen=True):
    """The answer to a resize of one pod.

    ``changes``: what differs, with a container's name, none for the pod level. ``restarts``: containers that restart.
    ``charges``: by how much quotas grow, if it is allowed. ``ignored``: paths of the patch that a resize leaves out.
    """

    subject: ObjectRef
    verdict: Verdict
    fixes: tuple[Remedy, ...]
    changes: tuple[Change, ...] = ()
    restarts: tuple[str, ...] = ()
    sums: tuple[Sum, ...] = ()
    charges: tuple[QuotaCharge, ...] = ()
    qos: str = ""
    qos_after: str = ""
    node: str = ""
    ignored: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True
    journal: Journal = ()


def resize(store: Store, subject: Subject, patch: Any, options: EvaluationOptions) -> Resize:
    """Return the effect of a patch on a pod. Raises UsageError for a bad patch or what is no pod, NotFound if the pod
    is not in the store.
    """
    old = _find_pod(store, subject)
    new, ignored = patch_pod(old, patch)
    namespace_policies, node = policies(store, subject.ref.namespace, options.server), node_of(store, old)
    outcomes = put_resize(old, new, namespace_policies.policies, options.server, node=node)
    outcomes = tuple(_blame_patch(patch, outcome) for outcome in outcomes)
    first = outcomes[0]
    same = same_containers(old, new)
    changed = tuple(_changes(old, first, options.server)) if same else ()
    named = {path: item.name for path, item in _container_paths(old)}
    assumed = (Assumption("server", "server/assumed", text) for text in options.assumptions)
    missed = tuple(
        failed_read
        for failed_read in find_unread(store, needs_with_node(store, subject))
        if failed_read.required or (failed_read.kind == "Node" and failed_read.state != "unread")
    )
    before = decoded_draft(old, options.server)
    return Resize(
        subject.ref,
        with_outcome(verdict_of(outcomes), missed),
        untested_remedies(remedies(outcomes, named, REMEDIES) if same else (NameStoredContainers(_names(old)),)),
        changed,
        tuple(dict.fromkeys(change.container for change in changed if change.restart)),
        tuple(_list_sums(before, first.draft, node)) if same and first.draft is not None else (),
        first.charges,
        old.status.qos_class or compute_class(before),
        compute_class(first.draft) if same and first.draft is not None else "",
        old.spec.node_name,
        ignored,
        (
            *namespace_policies.assumptions,
            *_journal_assumptions(first),
            *gates(new, options.server, resized=True),
            *assumed,
        ),
        missed,
        not any(failed_read.required for failed_read in missed),
        first.journal,
    )


def _find_pod(store: Store, subject: Subject) -> Pod:
    if subject.ref.kind != "Pod":
        raise UsageError(
            f"--resize takes pods, not {subject.kind.qualified_name}", hint="new pods are made by changing the template"
        )
    if subject.raw is not None:
        return decode_object(subject.raw, Pod)
    pod = store.get("Pod", subject.ref.name, subject.ref.namespace)
    if not isinstance(pod, Pod):
        raise NotFound(f'pods "{subject.ref.name}" not found', code=404, reason="NotFound")
    return pod


def _blame_patch(patch: Any, outcome: Outcome) -> Outcome:
    """Return the outcome with an undecodable quantity as an error of the whole patch."""
    refusal = outcome.refusal
    if refusal is None or refusal.code != 400:
        return outcome
    blamed = refused_patch(patch, refusal)
    return structs.replace(outcome, code=blamed.code, refusal=blamed)


def _names(pod: Pod) -> str:
    return ", ".join(item.name for _, item in _container_paths(pod))


def _container_paths(pod: Pod) -> Iterator[tuple[str, Any]]:
    for key, group in (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers)):
        yield from ((f"spec.{key}[{index}]", container) for index, container in enumerate(group or ()))


def _changes(old: Pod, outcome: Outcome, server: Server) -> Iterator[Change]:
    """Yield the changes of the pod level, then those of the containers."""
    if outcome.draft is None:
        return
    before, after = decoded_draft(old, server).pod, outcome.draft.pod
    level = after or before
    for side in reversed(SIDES):
        for resource in RESIZABLE:
            texts = [_text(slot.amounts_of(side) if slot is not None else {}, resource) for slot in (before, after)]
            if level is not None and texts[0] != texts[1]:
                yield Change(level.path_of(side, resource), "", resource, side, texts[0], texts[1])
    yield from changes(old, outcome, server)


def _text(values: Quantities, resource: str) -> str | None:
    return str(values[resource]) if resource in values else None


def _list_sums(before: Draft, after: Draft, node: Node | None) -> Iterator[Sum]:
    """Yield the figures that a node and quotas count, if one of the two is above zero."""
    room = parse_list(node.status.allocatable, "status.allocatable") if node is not None else {}
    for resource in RESIZABLE:
        for side in reversed(SIDES):
            previous, is_ = (_text(sum_pod(draft, side), resource) for draft in (before, after))
            if previous is not None or is_ is not None:
                bound = _text(room, resource) if side == "requests" else None
                none = "0" if side == "requests" else ""
                yield Sum(side, resource, previous or none, is_ or none, bound or "")


def _journal_assumptions(outcome: Outcome) -> Iterator[Assumption]:
    yield from (entry for entry in outcome.journal if isinstance(entry, Assumption))
