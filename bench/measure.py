"""Run commands in turn, as whole processes, and say what they took: nothing is measured inside of them."""

from __future__ import annotations

import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

TOOK = Path(__file__).with_name("took.py")
KRES = Path(sys.executable).with_name("kubectl-kres")


class WrongError(Exception):
    """A command did not give the right answer."""


class Run(NamedTuple):
    """Seconds of wall clock and CPU, and the most memory in MiB, of one process."""

    wall: float
    cpu: float
    peak: float


class Subject(NamedTuple):
    """A command to measure, and what its output must hold to be right."""

    name: str
    command: Sequence[str]
    right: Callable[[str, str], bool]
    code: int = 0


Table = tuple[list[str], list[list[str]]]


def kres(*words: str, right: Callable[[str, str], bool], code: int = 0) -> Subject:
    return Subject(f"kubectl-kres {' '.join(words)}", (str(KRES), *words), right, code)


def all_pods(kubectl: str, count: int) -> Subject:
    return Subject("kubectl get pods -A", (kubectl, "get", "pods", "-A"), lambda out, _: out.count("\n") == count + 1)


def capacity() -> list[Subject]:
    found = shutil.which("kube-capacity")
    return [Subject("kube-capacity", (found,), lambda out, _: "NODE" in out)] if found else []


def in_turn(subjects: Sequence[Subject], count: int, environment: Mapping[str, str]) -> list[list[Run]]:
    """All runs of each command, the first ones of all before the second ones."""
    found: list[list[Run]] = [[] for _ in subjects]
    for _ in range(count):
        for one, runs in zip(subjects, found, strict=True):
            runs.append(measured(one, environment))
    return found


def measured(one: Subject, environment: Mapping[str, str]) -> Run:
    """One run. Raises WrongError."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, tempfile.TemporaryDirectory() as own:
        report = Path(own) / "report"
        command = [sys.executable, "-I", "-S", str(TOOK), str(report), *one.command]
        # What is installed starts from bytecode; a shell that forbids to write it would have each run compile all.
        usual = {name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=usual, check=True)
        code, wall, cpu, peak = map(float, report.read_text().split())
        out.seek(0)
        err.seek(0)
        text, said = out.read(), err.read()
    if code != one.code or not one.right(text, said):
        raise WrongError(f"{one.name} ended with {code:.0f} and said {said.strip()[-200:] or text[-200:]!r}")
    return Run(wall, cpu, peak / (1 << 20 if platform.system() == "Darwin" else 1 << 10))


def median(runs: Sequence[Run]) -> Run:
    return Run(*map(statistics.median, zip(*runs, strict=True)))


def least(runs: Sequence[Run]) -> Run:
    """The run with the least CPU time: the others show what else the machine did."""
    return min(runs, key=lambda run: run.cpu)


def compared(title: str, subjects: Sequence[Subject], runs: int, environment: Mapping[str, str]) -> Table:
    """Medians of each command, and what share they are of the first one's. Raises WrongError."""
    in_turn(subjects[:1], 1, environment)  # the server compresses each page once
    found = [median(one) for one in in_turn(subjects, runs, environment)]
    rows = [
        [one.name, f"{figures.wall:.2f}", f"{figures.cpu:.2f}", f"{figures.peak:.0f}"]
        + [f"{a / b:.2f}" for a, b in zip(figures, found[0], strict=True)]
        for one, figures in zip(subjects, found, strict=True)
    ]
    return [title, "wall s", "CPU s", "peak MiB", "wall, of the first", "CPU", "memory"], rows


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown; the first column is text, the others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *([f"`{row[0]}`", *row[1:]] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
