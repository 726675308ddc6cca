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
from kubectl_kres.tekton.reports.new_run import NewRun
from kubectl_kres.tekton.reports.part import TektonPart

_PAIR = re.compile(r"invalid request resource value: (\S+) must be less or equal to limit (\S+)")


def _over_limit(case: RemedyContext) -> Iterator[str]:
    match = _PAIR.search(case.finding.text)
    figures = f" ({match[1]} and {match[2]})" if match is not None else ""
    yield (
        f"in the Task, lower the step's request to its limit or raise the limit{figures}; "
        "values of the run do not help, the Task's own text is compared"
    )


def _decoding_remedies(case: RemedyContext) -> Iterator[str]:
    path, text = case.finding.path, case.finding.observed
    holder, _, field = path.rpartition(".")
    if not path:
        yield "correct the field that the message names"
    elif "impossible ParamValues" in case.finding.text:
        yield f"give {holder} a value"
    elif not path.endswith("]"):
        other = {"resources": "computeResources", "computeResources": "resources"}.get(field)
        yield f"write {other}, not {field}, at {holder}" if other else f"take {path} out"
    elif "$(" in text:
        yield f"write a quantity at {path}: parameters cannot be used there"
    else:
        yield f'write {path} as {suggest_quantity(text) or "a quantity such as 500m or 128Mi"}, not "{text}"'


def _one_of(case: RemedyContext) -> Iterator[str]:
    kind = "pipeline" if "pipelineRef" in case.finding.text else "task"
    yield f"give either a reference, as {kind}Ref.name, or an embedded {kind}Spec"


def _retired_field_remedies(case: RemedyContext) -> Iterator[str]:
    fields = case.finding.text.partition("field(s): ")[2].partition("\n")[0]
    yield (
        f"take {fields} out: inputs and outputs are workspaces and parameters now, "
        "and what a run gives its steps stands in stepOverrides (v1: stepSpecs)"
    )


def _without_value(case: RemedyContext) -> Iterator[str]:
    names = case.finding.text.rpartition("[")[2].rstrip("]").split()
    those = "a default for it" if len(names) == 1 else "defaults for them"
    yield f"give {' and '.join(names)} in spec.params of the run, or in the Task {those}"


def _timeout(case: RemedyContext) -> Iterator[str]:
    sentences = case.finding.text.splitlines()
    if any(" should be >= 0" in sentence for sentence in sentences):
        yield "set the timeout to 0 or more"
    if any(" should be >= 0" not in sentence for sentence in sentences):
        yield "shorten the timeout that the message names, or lengthen what it is a part of"


_ABSENT = re.compile(r'(task|stepaction|pipeline)s\.tekton\.dev "([^"]*)" not found$')
_REFERRED = {"task": "Task", "stepaction": "StepAction", "pipeline": "Pipeline"}


def _resolution_remedies(case: RemedyContext) -> Iterator[Wording]:
    text = case.finding.text
    match, step = _ABSENT.search(text), text.partition('for step "')[2].partition('"')[0]
    names = text.rpartition("[")[2].rstrip("]").replace(" ", ", ")
    if match is not None:
        create = f"create {_REFERRED[match[1]]} {match[2]}, or refer to one that is there"
        yield joined(create, NewRun("and"), between=", ")
    elif "extra params" in text:
        yield f"take {names} out of the parameters of step {step}: its StepAction does not declare it"
    else:
        yield f"give {names} in the parameters of step {step}, or a default in its StepAction"


def _workspace_remedies(case: RemedyContext) -> Iterator[str]:
    name = case.finding.text.partition('"')[2].partition('"')[0]
    if "does not match" in case.finding.text:
        yield f"take workspace {name} out of spec.workspaces of the run, or declare it in the Task"
    else:
        yield f"bind workspace {name} in spec.workspaces of the run, or make it optional in the Task"


def _share_over_limit(case: RemedyContext) -> Iterator[Wording]:
    """Yield the remedies of a LimitRange's share, which a step without a request gets whatever limit it has."""
    entry, name = case.last_set("requests"), case.finding.resource
    if entry is None or entry.rule != "tekton/limitrange-share" or entry.source is None:
        yield from request_over_limit(case)
        return
    cause = f"{entry.source.ref} gives it that request, since it has none or 0"
    yield (
        f"set limits.{name} of {case.container_title()} to at least {entry.after} ({cause}), "
        f"or its request to at most {case.finding.limit} and no less than any min"
    )


def _object_refused_remedies(case: RemedyContext) -> Iterator[str]:
    source, name = case.finding.source, case.finding.resource
    which = f"{name} of quota {source.name}" if source is not None and name else "the quota that counts them"
    yield f"delete runs that have ended, or raise {which}"


def _account_remedies(case: RemedyContext) -> Iterator[str]:
    source = case.finding.source
    if source is None:
        yield "create the ServiceAccount, or name one that exists in spec.serviceAccountName of the run"
        return
    create = f"kubectl create serviceaccount {quote(source.name)} -n {quote(source.namespace)}"
    yield (
        f"create ServiceAccount {source.name} ({create}), or name one that exists in serviceAccountName "
        "(a PipelineRun has it in taskRunTemplate)"
    )


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
    yield (
        f"take {name} out of the values for the whole Task and give it to one step, "
        f"in the Task or with stepSpecs: it cannot be divided by {steps} steps"
    )


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
