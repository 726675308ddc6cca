"""The objects of a store that admission policies take parameters from, and the reads that they come by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_kres.model.admission_objects import can_be_served, kind_name
from kubectl_kres.store.store import ReadRequest, Store

Raw = Mapping[str, Any]
_SIGNS = {"In": "in", "NotIn": "notin"}


def parameter_need(api_version: str, kind: str, namespace: str, reference: Raw) -> ReadRequest:
    """Return what is read for a paramRef that is asked about in a namespace."""
    name = str(reference.get("name") or "")
    selector = "" if name else ",".join(_terms(reference.get("selector") or {}))
    space = str(reference.get("namespace") or namespace)
    return ReadRequest(kind_name(api_version, kind), space, name, selector, required=False)


def kind_need(api_version: str, kind: str) -> ReadRequest:
    """Return whether the server has the kind: of an object that no server has, so that only discovery is asked."""
    return ReadRequest(kind_name(api_version, kind), name=".", required=False)


def _terms(selector: Raw) -> Sequence[str]:
    """Return the selector as a query has it."""
    terms = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    for match_expression in selector.get("matchExpressions") or ():
        key, operator, values = (
            str(match_expression.get("key", "")),
            match_expression.get("operator"),
            match_expression.get("values") or (),
        )
        if operator in _SIGNS:
            terms.append(f"{key} {_SIGNS[operator]} ({','.join(map(str, values))})")
        else:
            terms.append(f"!{key}" if operator == "DoesNotExist" else key)
    return terms


def parameters(
    store: Store, api_version: str, kind: str, namespace: str, reference: Raw | None
) -> tuple[list[Raw], str]:
    """Objects of a kind in a namespace or in none, and how reading them for a paramRef went: a state of ``Coverage``.

    Without ``reference`` nothing is read: whether there is such a kind, as far as reads of others have shown.
    """
    name = kind_name(api_version, kind)
    if not can_be_served(api_version, kind):
        return [], "absent"
    if reference is None:
        asked = store.covered(kind_need(api_version, kind)).state
        if asked != "unread":
            return [], "failed" if asked == "denied" else asked
        states = [store.covered(read).state for read in store.reads_of_kind(name)]
        return [], next((item for item in ("absent", "read", "denied", "failed") if item in states), "unread")
    read = parameter_need(api_version, kind, namespace, reference)
    contents = [item.content for space in dict.fromkeys((read.namespace, "")) for item in store.all(name, space)]
    if read.name and any((content.get("metadata") or {}).get("name") == read.name for content in contents):
        return contents, "read"
    return contents, store.covered(read).state
