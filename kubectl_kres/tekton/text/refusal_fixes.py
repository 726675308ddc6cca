"""What mends a refusal of Tekton's webhooks and controller, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.tekton.reports import refusal_fixes as fixes


def _request(fix: fixes.LowerStepRequest) -> str:
    figures = f" ({fix.request} and {fix.limit})" if fix.request else ""
    return (
        f"in the Task, lower the step's request to its limit or raise the limit{figures}; "
        "values of the run do not help, the Task's own text is compared"
    )


def _field(fix: fixes.CorrectField) -> str:
    match fix.fault:
        case "no-value":
            return f"give {fix.path} a value"
        case "unknown" if fix.field:
            holder, _, field = fix.path.rpartition(".")
            return f"write {fix.field}, not {field}, at {holder}"
        case "unknown":
            return f"take {fix.path} out"
        case "parameter":
            return f"write a quantity at {fix.path}: parameters cannot be used there"
        case "quantity":
            return f'write {fix.path} as {fix.quantity or "a quantity such as 500m or 128Mi"}, not "{fix.observed}"'
    return "correct the field that the message names"


def _parameters(fix: fixes.GiveParameters) -> str:
    if fix.step:
        return f"give {', '.join(fix.names)} in the parameters of step {fix.step}, or a default in its StepAction"
    those = "a default for it" if len(fix.names) == 1 else "defaults for them"
    return f"give {' and '.join(fix.names)} in spec.params of the run, or in the Task {those}"


def _workspace(fix: fixes.BindWorkspace) -> str:
    if fix.undeclared:
        return f"take workspace {fix.workspace} out of spec.workspaces of the run, or declare it in the Task"
    return f"bind workspace {fix.workspace} in spec.workspaces of the run, or make it optional in the Task"


def _account(fix: fixes.CreateServiceAccount) -> str:
    if fix.account is None:
        return "create the ServiceAccount, or name one that exists in spec.serviceAccountName of the run"
    return (
        f"create ServiceAccount {fix.account.name} ({fix.command}), or name one that exists in serviceAccountName "
        "(a PipelineRun has it in taskRunTemplate)"
    )


WORDS: Mapping[type, Callable[[Any], str]] = {
    fixes.LowerStepRequest: _request,
    fixes.CorrectField: _field,
    fixes.ReferOrEmbed: lambda fix: f"give either a reference, as {fix.kind}Ref.name, or an embedded {fix.kind}Spec",
    fixes.DropRetiredFields: lambda fix: (
        f"take {fix.fields} out: inputs and outputs are workspaces and parameters now, "
        "and what a run gives its steps stands in stepOverrides (v1: stepSpecs)"
    ),
    fixes.GiveParameters: _parameters,
    fixes.DropParameters: lambda fix: (
        f"take {', '.join(fix.names)} out of the parameters of step {fix.step}: its StepAction does not declare it"
    ),
    fixes.ChangeTimeout: lambda fix: (
        "set the timeout to 0 or more"
        if fix.negative
        else "shorten the timeout that the message names, or lengthen what it is a part of"
    ),
    fixes.CreateReferred: lambda fix: f"create {fix.kind} {fix.name}, or refer to one that is there",
    fixes.BindWorkspace: _workspace,
    fixes.RaiseAboveShare: lambda fix: (
        f"set limits.{fix.resource} of {fix.holder} to at least {fix.share} ({fix.by} gives it that request, since it "
        f"has none or 0), or its request to at most {fix.limit} and no less than any min"
    ),
    fixes.MakeRoomForRuns: lambda fix: (
        "delete runs that have ended, or raise "
        + (f"{fix.resource} of quota {fix.quota}" if fix.resource else "the quota that counts them")
    ),
    fixes.CreateServiceAccount: _account,
    fixes.GiveToOneStep: lambda fix: (
        f"take {fix.resource} out of the values for the whole Task and give it to one step, "
        f"in the Task or with stepSpecs: it cannot be divided by {fix.steps} steps"
    ),
}
