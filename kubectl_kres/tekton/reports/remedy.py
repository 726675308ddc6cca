"""The remedies where Tekton refuses, or where the pod that Tekton makes is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote

from msgspec import structs

from kubectl_kres.admission.base.draft import Slot
from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.provenance.journal import Set
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.record import Clauses, Wording, joined
from kubectl_kres.reports.common.analysis import Analysis
from kubectl_kres.reports.common.system_parts import part_of
from kubectl_kres.reports.remedies.context import FieldNames, RemedyContext, RemedyTexts
from kubectl_kres.reports.remedies.pod_remedy import remedies, request_over_limit, usual_remedies
from kubectl_kres.reports.remedies.refusal_fixes import ByHand
from kubectl_kres.reports.remedies.typos import suggest_quantity
from kubectl_kres.tekton.reports import refusal_fixes as fixes
from kubectl_kres.tekton.reports.new_run import NewRun
from kubectl_kres.tekton.reports.part import TektonPart

_PAIR = re.compile(r"invalid request resource value: (\S+) must be less or equal to limit (\S+)")


def _over_limit(case: RemedyContext) -> Iterator[Wording]:
    match = _PAIR.search(case.finding.text)
    yield fixes.LowerStepRequest(match[1], match[2]) if match is not None else fixes.LowerStepRequest()


def _decoding_remedies(case: RemedyContext) -> Iterator[Wording]:
    path, text = case.finding.path, case.finding.observed
    holder, _, field = path.rpartition(".")
    if not path:
        yield fixes.CorrectField()
    elif "impossible ParamValues" in case.finding.text:
        yield fixes.CorrectField(holder, "no-value")
    elif not path.endswith("]"):
        other = {"resources": "computeResources", "computeResources": "resources"}.get(field, "")
        yield fixes.CorrectField(path, "unknown", other)
    elif "$(" in text:
        yield fixes.CorrectField(path, "parameter")
    else:
        yield fixes.CorrectField(path, "quantity", observed=text, quantity=suggest_quantity(text))


def _one_of(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.ReferOrEmbed("pipeline" if "pipelineRef" in case.finding.text else "task")


def _retired_field_remedies(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.DropRetiredFields(case.finding.text.partition("field(s): ")[2].partition("\n")[0])


def _bracketed_names(text: str) -> tuple[str, ...]:
    """Return the names that end a message, as ``[a b]``."""
    return tuple(text.rpartition("[")[2].rstrip("]").split())


def _without_value(case: RemedyContext) -> Iterator[Wording]:
    yield fixes.GiveParameters(_bracketed_names(case.finding.text))


def _timeout(case: RemedyContext) -> Iterator[Wording]:
    negative = [" should be >= 0" in sentence for sentence in case.finding.text.splitlines()]
    yield from (fixes.ChangeTimeout(kind) for kind in (True, False) if kind in negative)


_ABSENT = re.compile(r'(task|stepaction|pipeline)s\.tekton\.dev "([^"]*)" not found$')
_REFERRED = {"task": "Task", "stepaction": "StepAction", "pipeline": "Pipeline"}


def _resolution_remedies(case: RemedyContext) -> Iterator[Wording]:
    text = case.finding.text
    match, step = _ABSENT.search(text), text.partition('for step "')[2].partition('"')[0]
    names = _bracketed_names(text)
    if match is not None:
        yield joined(fixes.CreateReferred(_REFERRED[match[1]], match[2]), NewRun("and"), between=", ")
    elif "extra params" in text:
        yield fixes.DropParameters(names, step)
    else:
        yield fixes.GiveParameters(names, step)


def _workspace_remedies(case: RemedyContext) -> Iterator[Wording]:
    name = case.finding.text.partition('"')[2].partition('"')[0]
    yield fixes.BindWorkspace(name, undeclared="does not match" in case.finding.text)


def _share_over_limit(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of a LimitRange's share, which a step without a request gets whatever limit it has."""
    entry, finding = case.last_set("requests"), case.finding
    if entry is None or entry.rule != "tekton/limitrange-share" or entry.source is None:
        yield from request_over_limit(case)
        return
    holder, by = case.container_title(), str(entry.source.ref)
    yield fixes.RaiseAboveShare(finding.resource, holder, str(entry.after), finding.limit, by)


def _object_refused_remedies(case: RemedyContext) -> Iterator[Wording]:
    source, name = case.finding.source, case.finding.resource
    known = source is not None and name
    yield fixes.MakeRoomForRuns(name, source.name) if known and source is not None else fixes.MakeRoomForRuns()


def _account_remedies(case: RemedyContext) -> Iterator[Wording]:
    source = case.finding.source
    if source is None:
        yield fixes.CreateServiceAccount()
        return
    command = f"kubectl create serviceaccount {quote(source.name)} -n {quote(source.namespace)}"
    yield fixes.CreateServiceAccount(source, command)


#: Remedies by rule, of what Tekton's webhooks and controller refuse.
TEKTON_REMEDIES: Mapping[str, RemedyTexts] = {
    "tekton/service-account": _account_remedies,
    "tekton/decode": _decoding_remedies,
    "tekton/one-of": _one_of,
    "tekton/timeout": _timeout,
    "tekton/retired-field": _retired_field_remedies,
    "tekton/request-over-limit": _over_limit,
    "validation/request-over-limit": _share_over_limit,
    "tekton/resolution": _resolution_remedies,
    "tekton/params": _without_value,
    "tekton/workspaces": _workspace_remedies,
    "tekton/object-refused": _object_refused_remedies,
}


def _division_remedies(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of whole pieces, as GPUs, that were divided by the steps; of other values the usual."""
    paths = (f"{case.finding.path}[{case.finding.resource}]", case.finding.path)
    sets = [entry for entry in case.journal if isinstance(entry, Set) and entry.path in paths]
    containers = case.draft.containers if case.draft is not None else ()
    steps = sum(container.name.startswith("step-") for container in containers)
    if not sets or steps < 2 or not sets[-1].rule.startswith("tekton/task-level-request"):
        yield from usual_remedies(case)
        return
    name = sets[-1].path.rpartition("[")[2].rstrip("]")
    yield fixes.GiveToOneStep(name, steps)


#: Refusals of a part of what comes in whole numbers.
WHOLE: Mapping[str, RemedyTexts] = dict.fromkeys(
    ("validation/integer", "validation/request-equals-limit", "validation/hugepages"), _division_remedies
)


def sentences_of_run(
    analysis: Analysis, names: Mapping[str, str], sentences: Mapping[str, RemedyTexts]
) -> tuple[Wording, ...]:
    """Return what mends each refusal of the pod of a run, in the names of its Task. ``sentences``: others, by rule."""
    part = part_of(analysis.parts, TektonPart)
    assert part is not None
    by_rule = {**sentences, **TEKTON_REMEDIES, **WHOLE}
    return _sentences_for_run(
        remedies(analysis.outcomes, names, by_rule, naming=lambda outcome: _build_naming(part, outcome)), part
    )


def _build_naming(part: TektonPart, outcome: Outcome) -> FieldNames:
    """Return the names of steps and sidecars as in the Task, and of values by the field that was written."""
    fields = {
        entry.path: f"{entry.source.field} of {entry.source.ref}"
        for entry in outcome.journal
        if isinstance(entry, Set) and entry.source is not None
    }
    slots = outcome.draft.slots() if outcome.draft is not None else ()
    return FieldNames({slot.path: _title(slot, part.added) for slot in slots}, fields)


def _title(slot: Slot, additions: Sequence[str]) -> str:
    if slot.name in additions:
        return f"{slot.title}, which Tekton adds,"
    kind, _, name = slot.name.partition("-")
    return f"{kind} {name}" if kind in {"step", "sidecar"} and name else slot.title


def for_new_run(text: Wording, *, again: bool = True) -> Wording:
    """Return what a fix says; ``again``: with the new run that comes after it, which alone gets the change."""
    return joined(text, NewRun("then"), between=", ") if again else text


def names_new_run(text: Wording) -> bool:
    """Return whether a fix says already that a new run is to be started."""
    if isinstance(text, Clauses):
        return any(names_new_run(part) for part in text.parts)
    return isinstance(text, NewRun) or (isinstance(text, ByHand) and text.rule == _CREATION)


#: The rule of which the catalogue says that a new run is to be started.
_CREATION = "tekton/pod-creation-failed"
_OPERATOR = "TektonConfig config at spec.pipeline (the Tekton Operator keeps ConfigMap feature-flags)"


def with_operator_location(text: Wording) -> Wording:
    """Return a sentence about a feature flag with the place where the Tekton Operator keeps it."""
    if isinstance(text, Clauses):
        return structs.replace(text, parts=tuple(with_operator_location(part) for part in text.parts))
    if isinstance(text, ByHand) and RULES[text.rule].set_in:
        return structs.replace(text, set_in=_OPERATOR)
    return text


def _sentences_for_run(texts: Sequence[Wording], part: TektonPart) -> tuple[Wording, ...]:
    """Return sentences that remedy a refusal, as the run needs them: one that has ended has to be made anew."""
    texts = [with_operator_location(text) if part.by_operator else text for text in texts]
    if part.failed and not texts:
        return (NewRun("failed", part.reason if part.reason != "Failed" else ""),)
    if not part.has_ended or not texts:
        return tuple(texts)
    return *texts[:-1], for_new_run(texts[-1])
