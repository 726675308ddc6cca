"""What nodes say to a pod that waits, to the next ones of a workload, and to those of a change."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import Subject, compared, kres, table
from served import cluster, served
from single import ready

#: Pods on a node of the cluster.
EACH = 20
#: Characters of the file of a kind that are looked at.
_FIRST = 1 << 26


def nodes(kubectl: str, options: argparse.Namespace) -> str:
    """All of them read all nodes and all pods once."""
    folder = cluster(options.pods, nodes=options.pods // EACH)
    pod = waiting(folder)
    space, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    where, web = settled(folder)
    count = options.pods // EACH
    subjects = [
        Subject(
            "kubectl get pods -A", (kubectl, "get", "pods", "-A"), lambda out, _: out.count("\n") == options.pods + 1
        ),
        kres(
            "explain", f"pod/{name}", "-n", space, right=lambda out, _: f" of {count} can take" in " ".join(out.split())
        ),
        kres("quota", "--fit", f"deploy/{web}", "-n", where, right=lambda out, _: f"of {count} nodes" in out),
        kres("simulate", "--scale", f"deploy/{web}=99", "-n", where, right=lambda out, _: " of 99 pods" in out),
        kres("explain", "pods", "-A", right=lambda out, _: " can take it" in out),
    ]
    with served(folder) as environment:
        title = f"{count:,} nodes, {options.pods:,} pods"
        head, rows = compared(title, subjects, options.runs, environment)
    known = {name: "NAME", web: "NAME", where: "NS", space: "NS"}
    for text, word in known.items():
        rows = [[row[0].replace(text, word), *row[1:]] for row in rows]
    return table(head, rows)


def waiting(folder: Path) -> dict[str, Any]:
    """The first pod for which the scheduler has found no node."""
    return next(
        one for one in objects(folder, "pods") if not one["spec"].get("nodeName") and "Unschedulable" in str(one)
    )


def settled(folder: Path) -> tuple[str, str]:
    """Namespace and name of a Deployment with all of its pods."""
    found = next(one for one in objects(folder, "deployments") if ready(one) == one["spec"]["replicas"] > 1)
    return found["metadata"]["namespace"], found["metadata"]["name"]


def objects(folder: Path, kind: str) -> Iterator[dict[str, Any]]:
    """The first objects of a kind, one after the other."""
    with (folder / f"{kind}.items").open() as file:
        text = file.read(_FIRST)
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            one, end = decoder.raw_decode(text, at)
        except ValueError:  # cut off there
            return
        yield one
        at = end + len(text[end : end + 3]) - len(text[end : end + 3].lstrip(", \n"))
