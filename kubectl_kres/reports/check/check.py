"""The findings of a context, with those that an annotation of the object exempts, and the selection of rules by code.

A rule is added to the module of its topic, and to its ``RULES``; one about a system to the system's ``checks``.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from shlex import quote
from typing import Any, Final

from msgspec import structs

from kubectl_kres.errors import UsageError, on_one_line
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Filled
from kubectl_kres.reports.check import conflicts, pitfalls, refused_pods, rights, state
from kubectl_kres.reports.check.context import CheckContext, Rule
from kubectl_kres.reports.check.finding import ALL_OBJECTS, SEVERITIES, CheckFinding, Diagnostic
from kubectl_kres.reports.check.system import systems
from kubectl_kres.reports.common.system import answers_about, describe

_OF_KUBERNETES = (refused_pods, conflicts, state, pitfalls, rights)
#: All rules, those of systems among them, by their codes.
RULES: Final[tuple[Rule, ...]] = tuple(
    sorted(
        (
            *(rule for module in _OF_KUBERNETES for rule in module.RULES),
            *(rule for system in systems() for rule in system.rules),
        ),
        key=lambda rule: rule.code,
    )
)
BY_CODE: Final[Mapping[str, Rule]] = {rule.code: rule for rule in RULES}


def select_codes(select: Sequence[str], ignore: Sequence[str], flags: tuple[str, str]) -> frozenset[str]:
    """Return the codes of all rules, or of those in ``select``, without those in ``ignore``. ``flags``: what both are
    called.

    Raises UsageError for a code that no rule has, and where none is left.
    """
    texts = _select_codes(select, flags[0]) if select else frozenset(BY_CODE)
    left = texts - _select_codes(ignore, flags[1])
    if not left:
        raise UsageError(f"{flags[0]} and {flags[1]} leave no rule to check")
    return left


def _select_codes(given_codes: Sequence[str], flag: str) -> frozenset[str]:
    texts: set[str] = set()
    for word in (part.strip().upper() for name in given_codes for part in name.split(",") if part.strip()):
        codes = {code for code in BY_CODE if code.startswith(word)}
        if not codes or word == "KRES"[: len(word)]:
            near = difflib.get_close_matches(word, BY_CODE, 1, 0.5)
            raise UsageError(
                f'invalid argument "{on_one_line(word)}" for "{flag}" flag: no rule has this code',
                hint=f"did you mean {near[0]}?" if near else "docs/check.md lists the codes",
            )
        texts |= codes
    return frozenset(texts)


#: ``kres.dev/ignore: "KRES401 batch jobs are bounded by their node pool; KRES203 …"``
IGNORE = "kres.dev/ignore"
#: What could not be read.
UNREAD = "KRES901"
#: An exemption without a reason, or for a code that does not exist.
EXEMPTION = "KRES903"
#: Kinds whose objects rules are about beside workloads.
_EXEMPTED: Final = (
    *("LimitRange", "ResourceQuota", "HorizontalPodAutoscaler"),
    *(kind for system in systems() for kind in system.exempted),
)
_COMMANDS: Final = {kind: command for system in systems() for kind, command in system.commands.items()}


def check(context: CheckContext, codes: Collection[str]) -> Iterator[CheckFinding]:
    """Yield the findings of the selected rules in a context, in the order of their codes."""
    excused: dict[ObjectRef, Mapping[str, str]] = {}
    for rule in RULES:
        if rule.code not in codes or rule.scope not in {"both", "namespace" if context.namespace else "cluster"}:
            continue
        finders = (system.finders[rule.code] for system in systems() if rule.code in system.finders)
        for broken in chain(rule.find(context), *(find(context) for find in finders)):
            # What was not read is not what anybody asked about, and matters to all of it.
            if rule.code != UNREAD and not (context.selects(broken.object) and _is_in_scope(context, broken.object)):
                continue
            if broken.object not in excused:
                excused[broken.object] = dict(_exemptions(context, broken.object))
            yield _finding(rule, broken, excused[broken.object].get(rule.code, ""))
    if EXEMPTION in codes:
        for ref in _annotated_objects(context):
            yield from _faults(context, ref)


def _is_in_scope(context: CheckContext, ref: ObjectRef) -> bool:
    """Return whether a cluster-scoped object concerns the namespaces that are checked."""
    if context.namespace or not context.spaces:
        return True
    if ref.kind == "Namespace":
        return ref.name in context.spaces
    description = describe(context.store.get(ref.kind, ref.name))
    spaces = description.namespaces if description is not None else None
    return spaces is None or not set(context.spaces).isdisjoint(spaces)


def worst_first(check_findings: Iterable[CheckFinding]) -> list[CheckFinding]:
    """Return the findings by severity, then by code and object."""
    return sorted(
        check_findings,
        key=lambda check_finding: (
            SEVERITIES.index(check_finding.severity),
            check_finding.code,
            check_finding.object.full_name,
            check_finding.field,
        ),
    )


def mark_known(
    check_findings: Iterable[CheckFinding], baseline: Collection[tuple[str, str, str]]
) -> Iterator[CheckFinding]:
    """Yield the findings, with those of the baseline marked as known."""
    for check_finding in check_findings:
        yield structs.replace(check_finding, known=True) if check_finding.key in baseline else check_finding


def _finding(rule: Rule, broken: Diagnostic, ignored: str) -> CheckFinding:
    return CheckFinding(
        rule.code,
        rule.severity,
        broken.object,
        Filled(rule.message, broken.values),
        broken.remedy or rule.remedy,
        (*broken.commands, *_explain_commands(broken.object)),
        broken.field,
        broken.values,
        ignored=ignored,
    )


def _explain_commands(ref: ObjectRef) -> tuple[str, ...]:
    """Return the command that shows more about an object; none if no command explains it."""
    if ref.name == ALL_OBJECTS:
        return ()
    namespace_flag = f" -n {quote(ref.namespace)}" if ref.namespace else ""
    name = quote(ref.name)
    if ref.kind == "ResourceQuota":
        return (f"kubectl kres quota {name}{namespace_flag} --recount --by workload",)
    if ref.kind in _COMMANDS:
        return (f"{_COMMANDS[ref.kind].format(name)}{namespace_flag}",)
    kind = BY_KIND.get(ref.kind)
    if kind is None or not answers_about(kind).explained:
        return ()
    return (f"kubectl kres explain {kind.names[1]}/{name}{namespace_flag}",)


def _annotated_objects(context: CheckContext) -> Iterator[ObjectRef]:
    """Yield the objects of a context that carry the annotation."""
    kinds = [kind for kind in _EXEMPTED if BY_KIND[kind].namespaced == bool(context.namespace)]
    refs = [subject.ref for subject in context.subjects]
    refs += [
        ObjectRef(kind, item.metadata.name, item.metadata.namespace)
        for kind in kinds
        for item in context.store.all(kind, context.namespace or None)
    ]
    for ref in refs:
        if context.selects(ref) and _text(context, ref):
            yield ref


def _text(context: CheckContext, ref: ObjectRef) -> str:
    raw = context.written_manifests.get(ref)
    if raw is not None:
        metadata: Any = raw.get("metadata") or {}
        return str((metadata.get("annotations") or {}).get(IGNORE) or "")
    item = context.store.get(ref.kind, ref.name, ref.namespace)
    return str((item.metadata.annotations or {}).get(IGNORE, "")) if item is not None else ""


def _split_annotation(context: CheckContext, ref: ObjectRef) -> Iterator[tuple[str, str]]:
    """Yield each code of the annotation with the text after it."""
    for part in filter(None, map(str.strip, _text(context, ref).split(";"))):
        code, _, reason = part.partition(" ")
        yield code, reason.strip()


def _exemptions(context: CheckContext, ref: ObjectRef) -> Iterator[tuple[str, str]]:
    """Yield codes with the reasons that are given for them."""
    return ((code, reason) for code, reason in _split_annotation(context, ref) if code in BY_CODE and reason)


def _faults(context: CheckContext, ref: ObjectRef) -> Iterator[CheckFinding]:
    for code, reason in _split_annotation(context, ref):
        reason_text = "" if code in BY_CODE else f'"{code}" is no code of a rule'
        reason_text = reason_text or ("" if reason else f"it gives no reason for {code}")
        if reason_text:
            values = {"annotation": IGNORE, "why": reason_text}
            yield _finding(BY_CODE[EXEMPTION], Diagnostic(ref, values, f"metadata.annotations[{IGNORE}]"), "")
