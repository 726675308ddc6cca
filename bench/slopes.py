"""How what commands take grows from a thousand pods on, each size ten times the one before."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from measure import KRES, Run, Subject, all_pods, capacity, in_turn, kres, least, table
from plot import svg
from served import HERE, cluster, served

SIZES = (1_000, 10_000, 100_000)
#: So many pods to a claim on a pool.
_CLAIM = 50
_ASKED = (
    ("qos", "-A", "--summary", "-o", "json"),
    ("quota", "-A"),
    ("quota", "--recount", "-A", "-o", "json"),
    ("quota", "--denied", "-A"),
    ("explain", "pods", "-A"),
    ("explain", "deployments", "-A"),
    ("diff", "pods", "-A", "-o", "name"),
    ("overview", "-A"),
    ("check", "-A"),
    ("claims", "-A"),
)
_DRAWN = tuple(
    f"kubectl-kres {' '.join(words)}" for words in _ASKED if words[0] in {"qos", "explain", "overview", "check"}
)
PLOT = HERE.parent / "docs" / "pods.svg"
_SAVED = (("qos", "-A", "--summary"), ("quota", "-A"), ("overview", "-A"), ("check", "-A"))


def slopes(kubectl: str, options: argparse.Namespace) -> str:
    """Seconds of CPU at each size, how many times the one before, and the most memory at the last."""
    sizes = [count for count in SIZES if count <= options.pods]
    found: dict[str, list[Run]] = {}
    for count in sizes:
        with served(cluster(count, claims=count // _CLAIM)) as environment, tempfile.TemporaryDirectory() as folder:
            saved = Path(folder, "all.kres")
            words = ("snapshot", "-A", "--allow-partial", "--out", str(saved))
            subprocess.run([KRES, *words], env=environment, check=True, capture_output=True)
            subjects = [
                all_pods(kubectl, count),
                *capacity(),
                *(_kres(*words) for words in _ASKED),
                *(_kres(*words, "--snapshot", str(saved)) for words in _SAVED),
            ]
            in_turn(subjects[:1], 1, environment)  # the server compresses each page once
            for one, runs in zip(subjects, in_turn(subjects, options.runs, environment), strict=True):
                found.setdefault(one.name.replace(str(saved), "FILE"), []).append(least(runs))
    drawn = {name: [(count, run.cpu) for count, run in zip(sizes, found[name], strict=True)] for name in _DRAWN}
    PLOT.write_text(svg("CPU seconds", "pods", drawn))
    head = [text for count in sizes for text in (f"CPU s, {count:,}", "times")]
    rows = [[name, *_cells(runs), f"{runs[-1].peak:.0f}"] for name, runs in found.items()]
    return table(["command", head[0], *head[2:], "peak MiB"], rows)


def _kres(*words: str) -> Subject:
    """A command that ends well whatever it finds, under the name that a user would type."""
    flags = ("--fail-on", "never") if words[0] == "check" else ()
    one = kres(*words, "--allow-partial", *flags, right=lambda out, _: bool(out), code=words[0] == "diff")
    return one._replace(name=f"kubectl-kres {' '.join(words)}")


def _cells(runs: Sequence[Run]) -> list[str]:
    cells = [f"{runs[0].cpu:.2f}"]
    for before, after in pairwise(runs):
        cells += [f"{after.cpu:.2f}", f"{after.cpu / before.cpu:.1f}"]
    return cells
