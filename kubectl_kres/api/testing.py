"""For test suites: ``assert_admitted("deploy.yaml", snapshot="prod.kres")``. It needs no test framework."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kubectl_kres.api.answers import explain_all
from kubectl_kres.api.clusters import Cluster
from kubectl_kres.api.opening import open_snapshot
from kubectl_kres.errors import UsageError


def assert_admitted(
    item: Any,
    *,
    snapshot: str | Path = "",
    cluster: Cluster | None = None,
    namespace: str = "",
    policies: Sequence[Any] | None = None,
    kube_version: str = "",
) -> None:
    """Raises AssertionError, whose text is what ``explain`` prints, unless every object of ``item`` is admitted.

    ``item``: a file or folder, an object, or a list of them. ``snapshot``: the file with the policies that count.
    """
    if snapshot and cluster is not None:
        raise UsageError("snapshot= and cluster= exclude each other")
    source = open_snapshot(snapshot) if snapshot else cluster
    items = item if isinstance(item, (list, tuple)) else [item]
    explanations = explain_all(items, cluster=source, namespace=namespace, policies=policies, kube_version=kube_version)
    bad = [answer for answer in explanations if answer.admitted is not True or not answer.complete]
    if bad:
        count = (
            f"{len(bad)} of {len(explanations)} objects would not be admitted"
            if len(explanations) > 1
            else "not admitted"
        )
        raise AssertionError("\n\n".join([count, *(_text(answer) for answer in bad)]))


def _text(answer: Any) -> str:
    missing_text = "\n".join(f"not read: {text}" for text in answer.missing)
    return f"{answer.text()}\n{missing_text}".rstrip()
