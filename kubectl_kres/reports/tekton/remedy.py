"""What to change where Tekton refuses, or the pod that Tekton makes is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.provenance.journal import Set
from kubectl_kres.reports.common.system_parts import TektonPart
from kubectl_kres.reports.remedies.context import Remedy, RemedyContext
from kubectl_kres.reports.remedies.pod_remedy import request_over_limit
from kubectl_kres.reports.remedies.typos import near


def _say(text: str) -> Callable[[RemedyContext], Iterator[str]]:
    def say(_: RemedyContext) -> Iterator[str]:
        yield text

    return say


_PAIR = re.compile(r"invalid request resource value: (\S+) must be less or equal to limit (\S+)")


def _over_limit(case: RemedyContext) -> Iterator[str]:
    found = _PAIR.search(case.finding.text)
    figures = f" ({found[1]} and {found[2]})" if found is not None else ""
    yield (
        f"in the Task, lower the step's request to its limit or raise the limit{figures}; "
        "values of the run do not help, the Task's own text is compared"
    )


def _undecoded(case: RemedyContext) -> Iterator[str]:
    path, text = case.finding.path, case.finding.observed
    place, _, field = path.rpartition(".")
    if not path:
        yield "correct the field that the message names"
    elif "impossible ParamValues" in case.finding.text:
        yield f"give {place} a value"
    elif not path.endswith("]"):
        other = {"resources": "computeResources", "computeResources": "resources"}.get(field)
        yield f"write {other}, not {field}, at {place}" if other else f"take {path} out"
    elif "$(" in text:
        yield f"write a quantity at {path}: parameters cannot be used there"
    else:
        yield f'write {path} as {near(text) or "a quantity such as 500m or 128Mi"}, not "{text}"'


def _one_of(case: RemedyContext) -> Iterator[str]:
    kind = "pipeline" if "pipelineRef" in case.finding.text else "task"
    yield f"give either a reference, as {kind}Ref.name, or an embedded {kind}Spec"


def _retired(case: RemedyContext) -> Iterator[str]:
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
    if any(" should be >= 0" in one for one in sentences):
        yield "set the timeout to 0 or more"
    if any(" should be >= 0" not in one for one in sentences):
        yield "shorten the timeout that the message names, or lengthen what it is a part of"


_ABSENT = re.compile(r'(task|stepaction|pipeline)s\.tekton\.dev "([^"]*)" not found$')
_REFERRED = {"task": "Task", "stepaction": "StepAction", "pipeline": "Pipeline"}


def _unresolved(case: RemedyContext) -> Iterator[str]:
    text = case.finding.text
    found, step = _ABSENT.search(text), text.partition('for step "')[2].partition('"')[0]
    names = text.rpartition("[")[2].rstrip("]").replace(" ", ", ")
    if found is not None:
        yield f"create {_REFERRED[found[1]]} {found[2]}, or refer to one that is there, and start a new run"
    elif "extra params" in text:
        yield f"take {names} out of the parameters of step {step}: its StepAction does not declare it"
    else:
        yield f"give {names} in the parameters of step {step}, or a default in its StepAction"


def _unbound(case: RemedyContext) -> Iterator[str]:
    name = case.finding.text.partition('"')[2].partition('"')[0]
    if "does not match" in case.finding.text:
        yield f"take workspace {name} out of spec.workspaces of the run, or declare it in the Task"
    else:
        yield f"bind workspace {name} in spec.workspaces of the run, or make it optional in the Task"


def _share_over_limit(case: RemedyContext) -> Iterator[str]:
    """A LimitRange's share counts for a step without a request, whatever limit the step has."""
    entry, name = case.last_set("requests"), case.finding.resource
    if entry is None or entry.rule != "tekton/limitrange-share" or entry.source is None:
        yield from request_over_limit(case)
        return
    given = f"{entry.source.ref} gives it that request, since it has none or 0"
    yield (
        f"set limits.{name} of {case.who()} to at least {entry.after} ({given}), "
        f"or its request to at most {case.finding.limit} and no less than any min"
    )


#: Remedies by rule, of what Tekton's webhooks and controller refuse.
TEKTON_REMEDIES: Mapping[str, Remedy] = {
    "tekton/decode": _undecoded,
    "tekton/one-of": _one_of,
    "tekton/no-steps": _say("give the Task a step"),
    "tekton/step-name": _say("give each step a name of its own, of small letters, digits and dashes"),
    "tekton/step-ref": _say("take what the StepAction says out of the step"),
    "tekton/image": _say("give each step and sidecar an image"),
    "tekton/script": _say("keep either the script or the command; a step can have its command from the step template"),
    "tekton/artifacts": _say("set enable-artifacts to true in ConfigMap feature-flags, or use results"),
    "tekton/pipeline-task-name": _say("give each task a name of its own, of small letters, digits and dashes"),
    "tekton/run-after": _say("name tasks of the Pipeline in runAfter, and none in finally"),
    "tekton/cycle": _say("take one of these tasks out of what the other waits for"),
    "tekton/timeout": _timeout,
    "tekton/retries": _say("set retries to 0 or more"),
    "tekton/run-status": _say("take spec.status out"),
    "tekton/breakpoint": _say("set onFailure to enabled, and name each step once in beforeSteps"),
    "tekton/reserved-sidecar": _say("give the sidecar another name"),
    "tekton/retired-field": _retired,
    "tekton/api-fields": _say("take the field out, or set enable-api-fields to beta in ConfigMap feature-flags"),
    "tekton/override-name": _say("name each step or sidecar in one entry"),
    "tekton/task-level-conflict": _say(
        "keep either computeResources of the whole Task or the values of single steps; an empty one counts, too"
    ),
    "tekton/request-over-limit": _over_limit,
    "validation/request-over-limit": _share_over_limit,
    "tekton/given-twice": _say("take all but one of what has the same name out; capitals make no difference in a run"),
    "tekton/undeclared": _say("declare what is named, or correct its name where it is referred to"),
    "tekton/variable-use": _say(
        "take an entry of the list, or a key of the object; a whole list stands alone in command or args"
    ),
    "tekton/declaration": _say("correct name, type, default or properties of the parameter"),
    "tekton/result": _say("correct name, type, properties or value of the result"),
    "tekton/volume": _say("give each volume a name of its own, without tekton-internal- in front"),
    "tekton/unmountable": _say("name the volume in the Task, or correct the mount; mount each at a path of its own"),
    "tekton/mount": _say("mount a volume that is not Tekton's, at a path outside of /tekton"),
    "tekton/when": _say("give the condition input, operator (in, notin) and values"),
    "tekton/action-script": _say("take the parameter through an environment variable of the StepAction"),
    "tekton/workspace-binding": _say("bind each workspace to exactly one volume, with its name"),
    "tekton/name": _say("correct the name of the Task; what a resolver fetches needs the field resolver"),
    "tekton/on-error": _say("set onError to continue or stopAndFail, and no retries beside continue"),
    "tekton/resolution": _unresolved,
    "tekton/params": _without_value,
    "tekton/workspaces": _unbound,
    "tekton/one-claim": _say(
        "back the workspaces by one claim (subPath parts it), or set coschedule to disabled, pipelineruns or "
        "isolate-pipelinerun in ConfigMap feature-flags"
    ),
    "tekton/unknown-override": _say("name steps and sidecars as the Task does, without step- or sidecar- in front"),
    "tekton/unknown-pipeline-task": _say("name a task of the Pipeline in taskRunSpecs"),
    "tekton/object-refused": _say("delete runs that have ended, or raise the quota that counts them"),
    "tekton/pod-security": _say(
        "set set-security-context to true in ConfigMap feature-flags, or give the steps a security context"
    ),
}

_PLACE = re.compile(r"\b(requests|limits)\.([^\s,]+) of (?:init )?(?:container|sidecar) ([^\s,]+)")
_OURS = re.compile(r"\b(?:container|sidecar) (step|sidecar)-(?=\S)")

_PATH = re.compile(r"\bspec\.(?:initContainers|containers)\[\d+\]\.resources\.(?:requests|limits)\[[^\]]+\]")

#: Refusals of a part of what comes in whole numbers.
_WHOLE = frozenset({"validation/integer", "validation/request-equals-limit", "validation/hugepages"})

#: Rules of values that whoever runs the Task wrote, so that a change of the Task would not help.
_OF_RUN = ("tekton/task-level", "tekton/step-spec", "tekton/sidecar-spec")


def run_remedies(found: Sequence[str], part: TektonPart, outcome: Outcome) -> tuple[str, ...]:
    """The remedies with fields of the run where it set the value, else steps and sidecars named as in the Task; and how
    a container that Tekton adds gets a value.
    """
    last = {entry.path: entry for entry in outcome.journal if isinstance(entry, Set)}
    slots = outcome.draft.slots() if outcome.draft is not None else ()
    paths = {slot.name: slot.path for slot in slots}

    def place(match: re.Match[str]) -> str:
        entry = last.get(f"{paths.get(match[3], '')}.resources.{match[1]}[{match[2]}]")
        if entry is None or entry.source is None or not entry.rule.startswith(_OF_RUN):
            return match[0]
        each = f", for each of {part.steps} steps," if match[1] == "requests" and part.steps > 1 else ""
        shared = each if entry.rule.startswith("tekton/task-level") else ""
        return f"{entry.source.field} of {entry.source.ref}{shared}"

    if part.failed and not found:
        return (f"start a new run: this one has failed ({part.reason}) and nothing revives it",)

    def written(match: re.Match[str]) -> str:
        entry = last.get(match[0])
        return f"{entry.source.field} of {entry.source.ref}" if entry is not None and entry.source else match[0]

    whole = tuple(_whole(outcome, last, part))
    found = (*whole, *(text for text in found if not any(_about(name, text) for name in _divided(outcome, last))))
    said = [_in_task(_PATH.sub(written, _PLACE.sub(place, text)), part.added) for text in found]
    changes = tuple(dict.fromkeys(_possible(text, part) for text in said))
    if not part.ended or not changes:
        return changes
    return f"for a new run: {changes[0]}", *changes[1:]


def _divided(outcome: Outcome, last: Mapping[str, Set]) -> tuple[str, ...]:
    """Resources that cannot be divided, and were, by the number of steps: GPUs, huge pages."""
    findings = outcome.refusal.findings if outcome.refusal is not None else ()
    names: dict[str, None] = {}
    for one in findings:
        paths = (f"{one.path}[{one.resource}]", one.path)
        entry = next((last[path] for path in paths if path in last), None)
        if one.rule in _WHOLE and entry is not None and entry.rule.startswith("tekton/task-level-request"):
            names[entry.path.rpartition("[")[2].rstrip("]")] = None
    return tuple(names)


def _whole(outcome: Outcome, last: Mapping[str, Set], part: TektonPart) -> Iterator[str]:
    if part.steps > 1:
        for name in _divided(outcome, last):
            yield (
                f"take {name} out of the values for the whole Task and give it to one step, "
                f"in the Task or with stepSpecs: it cannot be divided by {part.steps} steps"
            )


def _about(name: str, text: str) -> bool:
    return f"[{name}]" in text or f".{name} " in text


def _possible(text: str, part: TektonPart) -> str:
    """Without what would not help: to free what a quota does not have."""
    for one in part.never:
        head = re.compile(rf"free \S+ of {re.escape(one.resource)} in quota {re.escape(one.quota)}, or raise its hard")
        text = head.sub(f"raise {one.resource} of quota {one.quota}", text)
    return text


def _in_task(text: str, added: Sequence[str]) -> str:
    named = _OURS.sub(r"\1 ", text)
    foreign = [name for name in added if re.search(rf"\b{re.escape(name)}(?![\w-])", text)]
    if not foreign:
        return named
    how = "default-container-resource-requirements of ConfigMap config-defaults, or a LimitRange"
    return f"{named} ({', '.join(foreign)}: added by Tekton, only {how} gives it values)"
