"""Faults that a webhook finds in an object's fields, and the one message that it makes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kubectl_kres.tekton.rules.base.problem import MessageFault

#: What a name is that becomes part of a container's name: at most 63 of these.
LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


class WebhookError(NamedTuple):
    """A fault: the sentence, the field that it is about (empty: none), the code of the rule, what is said below it."""

    text: str
    path: str
    rule: str
    details: str = ""


def entry_path(field: str, key: str) -> str:
    """Return the path of an entry of a map. Source: knative.dev/pkg/apis flatten."""
    return f"{field}.[{key}]" if "." in key else f"{field}[{key}]"


def by_rule(errors: Sequence[WebhookError]) -> tuple[MessageFault, ...]:
    """Return the faults of each rule as one, in the order in which they were found; nothing where there is one rule."""
    rules = dict.fromkeys(error.rule for error in errors)
    result = ((rule, [error for error in errors if error.rule == rule]) for rule in rules)
    return tuple(MessageFault(join_errors(pairs), rule) for rule, pairs in result) if len(rules) > 1 else ()


def join_errors(errors: Sequence[WebhookError]) -> str:
    """Equal sentences once with all their fields, then sorted. Source: knative.dev/pkg/apis FieldError.Error."""
    by_text: dict[tuple[str, str], set[str]] = {}
    for error in errors:
        by_text.setdefault((error.text, error.details), set()).add(error.path)
    return "\n".join(
        sorted(
            f"{text}: {', '.join(sorted(paths))}" + (f"\n{details}" if details else "")
            for (text, details), paths in by_text.items()
        )
    )
