#!/usr/bin/env python3
"""Measure start-up, and reading all pods of a synthetic cluster, against kubectl: prints tables in Markdown.

    python bench/run.py                       10,000 pods; the cluster is made once and kept in ~/.cache
    python bench/run.py --pods 100000 --runs 3

Commands take turns, so that other load on the machine meets all of them; each figure is a median.  Figures are for
comparing within one run, not between machines.  A command whose answer is wrong has no figures: the run ends with 1.
kube-capacity takes part where it is on PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
KRES = Path(sys.executable).with_name("kubectl-kres")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kubectl-kres"
SEED, NODES, NAMESPACES = 1, 500, 200
STARTS = 9
READY_SECONDS = 30.0


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


def main() -> int:
    options = arguments().parse_args()
    kubectl = str(options.kubectl or default_kubectl())
    print(about(kubectl))
    try:
        print(table(*start_up(kubectl)))
        with served(cluster(options.pods)) as environment:
            print(table(*reading(kubectl, options.pods, options.runs, environment)))
    except WrongError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3, help="how often all pods are read by each command")
    parser.add_argument("--kubectl", type=Path, help="default: the one built for the tests, else the one on PATH")
    return parser


def default_kubectl() -> Path:
    built = sorted(CACHE.glob("controlplane/*/kubectl"))
    found = built[-1] if built else shutil.which("kubectl")
    if found is None:
        raise SystemExit("error: kubectl is needed to compare with: --kubectl FILE")
    return Path(found)


def about(kubectl: str) -> str:
    """The machine and the versions, as a line of text."""
    version = subprocess.run([kubectl, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True)
    client = json.loads(version.stdout)["clientVersion"]["gitVersion"]
    cores, load = os.cpu_count(), os.getloadavg()[0]
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{processor()}, {cores} cores, load {load:.1f}; {python}; kubectl {client}; {platform.system()}\n"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def start_up(kubectl: str) -> tuple[list[str], list[list[str]]]:
    """Times of commands that ask no cluster, and how many modules each imports."""
    demo = ("explain", "--demo", "deploy/checkout", "-n", "checkout")
    subjects = [
        Subject("kubectl version --client", (kubectl, "version", "--client"), lambda out, _: "Client Version" in out),
        Subject("kubectl-kres --help", (str(KRES), "--help"), lambda out, _: "Usage:" in out),
        Subject(
            "kubectl-kres version --client",
            (str(KRES), "version", "--client"),
            lambda out, _: out.startswith("Client Version"),
        ),
        Subject(f"kubectl-kres {' '.join(demo)}", (str(KRES), *demo), lambda out, _: "exceeded quota" in out),
    ]
    runs = in_turn(subjects, STARTS, os.environ)
    base = median(runs[0]).wall
    rows = [
        [one.name, f"{figures.wall:.3f}", f"{figures.wall / base:.1f}", f"{figures.peak:.0f}", modules(one.command)]
        for one, figures in zip(subjects, map(median, runs), strict=True)
    ]
    return ["start-up", "s", "of kubectl's", "MiB", "modules"], rows


def modules(command: Sequence[str]) -> str:
    """How many modules a Python command imports; nothing for others."""
    if command[0] != str(KRES):
        return ""
    traced = subprocess.run([sys.executable, "-X", "importtime", *command], capture_output=True, text=True, check=False)
    return str(sum(line.startswith("import time:") for line in traced.stderr.splitlines()) - 1)


def reading(kubectl: str, pods: int, runs: int, environment: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """Times and memory of reading all pods."""
    diff = (str(KRES), "diff", "pods", "-A")
    subjects = [
        Subject("kubectl get pods -A", (kubectl, "get", "pods", "-A"), lambda out, _: out.count("\n") == pods + 1),
        Subject("kubectl-kres diff pods -A", diff, lambda _, err: f" of {pods} objects differ" in err, 1),
        Subject(
            "kubectl-kres diff pods -A -o name", (*diff, "-o", "name"), lambda out, err: counted(out, err, pods), 1
        ),
    ]
    capacity = shutil.which("kube-capacity")
    if capacity:
        subjects.append(Subject("kube-capacity", (capacity,), lambda out, _: "NODE" in out))
    in_turn(subjects[:1], 1, environment)  # the server compresses each page once
    found = [median(one) for one in in_turn(subjects, runs, environment)]
    rows = [
        [one.name, f"{figures.wall:.2f}", f"{figures.cpu:.2f}", f"{figures.peak:.0f}"]
        + [f"{a / b:.2f}" for a, b in zip(figures, found[0], strict=True)]
        for one, figures in zip(subjects, found, strict=True)
    ]
    return [f"{pods:,} pods", "wall s", "CPU s", "peak MiB", "wall, of kubectl's", "CPU", "memory"], rows


def counted(out: str, err: str, pods: int) -> bool:
    """Whether as many names are listed as are said to differ."""
    return f"{out.count(chr(10))} of {pods} objects differ" in err


def in_turn(subjects: Sequence[Subject], count: int, environment: Mapping[str, str]) -> list[list[Run]]:
    """All runs of each command, the first ones of all before the second ones."""
    found: list[list[Run]] = [[] for _ in subjects]
    for _ in range(count):
        for one, runs in zip(subjects, found, strict=True):
            runs.append(measured(one, environment))
    return found


def measured(one: Subject, environment: Mapping[str, str]) -> Run:
    """One run. Raises WrongError."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began = time.monotonic()
        process = subprocess.Popen(one.command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, said = out.read(), err.read()
    if process.returncode != one.code or not one.right(text, said):
        raise WrongError(f"{one.name} ended with {process.returncode} and said {said.strip()[-200:] or text[-200:]!r}")
    scale = 1 << 20 if platform.system() == "Darwin" else 1 << 10
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale)


def median(runs: Sequence[Run]) -> Run:
    return Run(*map(statistics.median, zip(*runs, strict=True)))


def cluster(pods: int) -> Path:
    """The folder of a synthetic cluster, made if it is not there."""
    folder = CACHE / "bench" / f"{pods}-{NODES}-{NAMESPACES}-{SEED}"
    if not (folder / "truth.json").exists():
        sizes = ["--pods", str(pods), "--nodes", str(NODES), "--namespaces", str(NAMESPACES), "--seed", str(SEED)]
        subprocess.run([sys.executable, HERE / "cluster.py", *sizes, "--out", folder], check=True, stdout=sys.stderr)
    truth = json.loads((folder / "truth.json").read_text())
    if truth["pods"] != pods:
        raise WrongError(f"{folder} holds {truth['pods']} pods, not {pods}: remove it")
    return folder


@contextmanager
def served(folder: Path) -> Iterator[dict[str, str]]:
    """An API server of these objects; the environment in which commands find it."""
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        config, port = Path(made) / "kubeconfig", Path(made) / "port"
        command = [sys.executable, HERE / "fake_apiserver.py", folder, "--port", "0", "--port-file", port]
        server = subprocess.Popen([*command, "--kubeconfig", config], stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + READY_SECONDS
            while not port.exists():
                if server.poll() is not None or time.monotonic() > deadline:
                    raise WrongError("the server does not start")
                time.sleep(0.02)
            yield {**os.environ, "KUBECONFIG": str(config), "KUBECACHEDIR": f"{made}/cache", "KUBERC": "off"}
        finally:
            server.terminate()
            server.wait()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown; the first column is text, the others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *([f"`{row[0]}`", *row[1:]] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
