"""What is not known of a change, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubectl_kres.reports.changes.notes import (
    NodesUnknown,
    NotSimulated,
    RandomChoice,
    StepRemark,
    UnknownStep,
    UnreadRollout,
)


def _unknown_step(step: UnknownStep) -> str:
    kind = step.kind
    match step.what:
        case "change":
            return f"what a change of a {kind} leads to is not simulated"
        case "webhooks":
            return f"what webhooks of a {kind} say is not known"
        case "scope":
            return f"whether a {kind} stands in a namespace is not known"
        case "parameter":
            return "policies take parameters from it, and it is not read"
        case "before":
            return "policies that take parameters from it are judged by what it was before"
        case "without":
            return f"what {kind} {step.name} does without it is not followed"
        case "maker":
            return f"this {step.made} is made by {kind} {step.name}, and what differs from it is not simulated"
        case "pod":
            return "this Pod is there already, and what differs from it is not simulated"
        case "running":
            return f"this {kind} runs already, and what it was made of is not read"
        case "at-once":
            bound = f" (at most {step.most})" if step.most is not None else ""
            return f"how many pods of a {kind} run at once{bound} is not known: each template is judged alone"
        case "pods":
            return f"what becomes of the pods of a {kind} is not simulated"
        case "makes-pods":
            return f"whether a {kind} of {step.group} makes pods is not known"


def _step_remark(remark: StepRemark) -> str:
    match remark.what:
        case "pods-alone":
            return f"of what the controller of a {remark.kind} makes pods alone are counted"
        case "helm-test":
            return f"{remark.kind} {remark.name} is left out: Helm makes it for helm test alone"
        case "suspended":
            return f"{remark.kind} {remark.name} is suspended: it makes no pods before it is resumed"
        case "queued":
            gang = f", and runs none of them unless {remark.least} come" if remark.least is not None else ""
            return f"Volcano makes the pods of {remark.name} once a queue takes it in, which is not known{gang}"


def _nodes_unknown(nodes: NodesUnknown) -> str:
    unknown = "whether new pods find a node is not known: "
    match nodes.why:
        case "unread":
            return f"{unknown}nodes as the scheduler sees them were not read, or are not in the snapshot"
        case "no-node":
            return f"{unknown}there is no node in the cluster"
        case "said":
            return f"{unknown}{nodes.about}"
        case "template":
            return f"{unknown}the template of {nodes.about} was not read"
        case "partly":
            return f"whether new pods find a node is known as far as seen: not read: {nodes.about}"


def _unread_rollout(rollout: UnreadRollout) -> str:
    of = f"{rollout.workload} in {rollout.namespace}"
    stalls = f"stalls at {rollout.updated} of {rollout.wanted} updated"
    return f"if the file changes what is not read of {of}, such as env, its rollout {stalls}"


WORDS: Mapping[type, Callable[[Any], str]] = {
    NodesUnknown: _nodes_unknown,
    NotSimulated: lambda left: (
        f"namespace {left.namespace}: {', '.join(left.names)} not simulated: explain says what they do to its pods"
    ),
    RandomChoice: lambda choice: (
        f"{choice.title} chooses among equals at random: this is one of {choice.ways} outcomes"
    ),
    StepRemark: _step_remark,
    UnknownStep: _unknown_step,
    UnreadRollout: _unread_rollout,
}
