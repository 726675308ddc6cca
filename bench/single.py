"""One object explained in a namespace that holds all the pods of the cluster: how long, and with how many requests."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import Subject, compared, kres, measured, table
from served import cluster, served

NAMESPACE = "default"


def single(kubectl: str, options: argparse.Namespace) -> str:
    """A Deployment with all of its pods, one that lacks some while others do, too, and a pod of the first."""
    folder = cluster(options.pods, namespaces=1)
    settled = first(folder, "deployments", lambda one: ready(one) == one["spec"]["replicas"] == 2)
    lacking = first(folder, "deployments", lambda one: 0 < ready(one) < one["spec"]["replicas"])
    pod = first(folder, "pods", lambda one: one["metadata"]["name"].startswith(f"{settled}-"))
    about = [f"deploy/{settled}", f"deploy/{lacking}", f"pod/{pod}"]
    get = (kubectl, "get", f"deploy/{settled}", "-o", "json")
    subjects = [
        Subject("kubectl get deploy/NAME -o json", get, lambda out, _: json.loads(out)["metadata"]["name"] == settled),
        *(kres("explain", word, right=lambda out, _, word=word: word.partition("/")[2] in out) for word in about),
    ]
    with tempfile.TemporaryDirectory() as made:
        log = Path(made) / "requests"
        with served(folder, "--log", str(log)) as environment:
            head, rows = compared(f"{options.pods:,} pods in one namespace", subjects, options.runs, environment)
            counts = []
            for subject in subjects:
                before = log.read_text().count("\n")
                measured(subject, environment)
                counts.append(str(log.read_text().count("\n") - before))
    named = zip(("settled", "lacking"), (settled, lacking), strict=True)
    texts = [[row[0].replace(pod, "NAME"), *row[1:]] for row in rows]
    for word, name in named:
        texts = [[row[0].replace(name, f"NAME ({word})"), *row[1:]] for row in texts]
    return table([*head, "requests"], [[*row, count] for row, count in zip(texts, counts, strict=True)])


def ready(deployment: dict[str, Any]) -> int:
    return deployment["status"].get("readyReplicas", 0)


def first(folder: Path, kind: str, fits: Callable[[dict[str, Any]], bool]) -> str:
    """The name of the first object of a kind that fits."""
    objects = json.loads(f"[{(folder / f'{kind}.items').read_text().rstrip().removesuffix(',')}]")
    return next(one["metadata"]["name"] for one in objects if fits(one))
