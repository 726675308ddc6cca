"""A part of an explanation: one container, one value of it, or one task."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from kubectl_kres.errors import ClusterError, UsageError, on_one_line
from kubectl_kres.reports.common.explanation import ContainerValues, Explanation, ResourceValue

_SIDES = {"limit": "limits", "limits": "limits", "request": "requests", "requests": "requests"}


def narrow_explanation(explanation: Explanation, container: str, question: str) -> Explanation:
    """Return the explanation with only the requested containers and values, what they depend on, and the verdict.

    It is the whole one where nothing is requested. Raises as ``containers`` and ``value`` do.
    """
    if question:
        container_values, resource_value = value(explanation, question, container)
        kept: tuple[ContainerValues, ...] = (structs.replace(container_values, values=(resource_value,)),)
    elif container:
        kept = containers(explanation, container)
    else:
        return explanation
    return Explanation(
        explanation.subject,
        explanation.start,
        explanation.verdict,
        explanation.fixes,
        containers=kept,
        live=explanation.live,
        assumptions=explanation.assumptions,
        unread=explanation.unread,
        certain=explanation.certain,
        order=explanation.order,
        listed=explanation.listed,
        complete=explanation.complete,
    )


def containers(explanation: Explanation, name: str) -> tuple[ContainerValues, ...]:
    """Return the containers of that name; ``pod`` is the pod level. Raises UsageError naming those there are."""
    values_of_containers = tuple(
        container
        for container in explanation.containers
        if container.name == name or (container.role == "pod" and name == "pod")
    )
    if not values_of_containers:
        raise UsageError(
            f'{explanation.subject} has no container "{name}"',
            hint=f"containers: {_join_names(explanation.containers)}",
        )
    return values_of_containers


def value(explanation: Explanation, question: str, container: str = "") -> tuple[ContainerValues, ResourceValue]:
    """Return the value that ``CONTAINER.limits.RESOURCE`` names; the container may be left out where ``container`` says
    which, or there is one only.

    Raises UsageError for a text of another form, or where the pod has no such value; ClusterError where a LimitRange
    that could not be read may set it.
    """
    name, side, resource = _split_question(question, explanation, container)
    for container_values in containers(explanation, name):
        for resource_value in container_values.values:
            if resource_value.side == side and resource_value.resource == resource:
                return container_values, resource_value
    unread = next((failed_read for failed_read in explanation.unread if failed_read.kind == "LimitRange"), None)
    if unread is not None:
        raise ClusterError(f"{question} is not known: {unread.message or 'LimitRanges could not be read'}")
    namespace_prefix = f"{explanation.subject.namespace}/" if explanation.subject.namespace else ""
    text = f"{namespace_prefix}{explanation.subject.name}: {name} has no {resource} {side.removesuffix('s')}"
    asked = re.search(r"(?:^|\.)(limit|request)\.", question)
    raise UsageError(f'{text} (read "{asked[1]}" as "{asked[1]}s")' if asked else text, hint="")


def _split_question(question: str, explanation: Explanation, container: str) -> tuple[str, str, str]:
    head, _, rest = question.partition(".")
    if head in _SIDES and container:
        return container, _SIDES[head], rest
    if head in _SIDES:
        regular = [container.name for container in explanation.containers if container.role == "container"]
        if len(regular) != 1:
            hint = f"say CONTAINER.{question}; containers: {_join_names(explanation.containers)}"
            raise UsageError(f"{question}: which container?", hint=hint)
        return regular[0], _SIDES[head], rest
    side, _, resource = rest.partition(".")
    if side not in _SIDES or not resource:
        raise UsageError(f"{question}: say CONTAINER.requests.RESOURCE or CONTAINER.limits.RESOURCE")
    if container and container != head:
        raise UsageError(f"{question} is no value of container {container}", hint="leave -c or --for out")
    return head, _SIDES[side], resource


def _join_names(values_of_containers: Sequence[ContainerValues]) -> str:
    return ", ".join(on_one_line(container_values.name) or "pod" for container_values in values_of_containers)
