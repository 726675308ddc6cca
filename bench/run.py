#!/usr/bin/env python3
"""Measure start-up, and reading a synthetic cluster, against kubectl: prints tables in Markdown.

    python bench/run.py                       10,000 pods; the clusters are made once and kept in ~/.cache
    python bench/run.py --pods 100000 --runs 3
    python bench/run.py --only quota --only claims
    python bench/run.py --write               the figures also go into docs/performance.md

Parts: start (commands that ask no cluster), single (one object among many pods), sums (all pods added up), pods (all
pods and Deployments explained, and compared with what they would get), quota (all quotas recounted), nodes (what they
say to pods, a node for 20 of them), snapshots (all objects written to a file, its pods read), taskruns (all runs of a
namespace explained), claims, slopes (how all of these grow from 1,000 pods to --pods, with a plot in docs),
tenant (how answers about one namespace grow with the objects that its tenant writes), feed
(watched events), tui (the program in a terminal, under events).
Commands take turns, so that other load on the machine meets all of them; each figure is a median, those of start are
the least.  Figures are for comparing within one run, not between machines.  A command whose answer is wrong has no
figures: the run ends with 1.
kube-capacity takes part where it is on PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from measure import KRES, Subject, WrongError, all_pods, capacity, compared, in_turn, kres, least, median, table
from nodes import nodes
from page import PAGE, with_figures
from podspec import add, milli
from served import CACHE, HERE, cluster, served, truth
from single import single
from slopes import slopes
from tenant import tenant

STARTS = 15
FEW_PODS = 1000
#: Runs a command; the last line on stderr is then what it has loaded.
_LOADED = """
import sys
from kubectl_kres.cli.main import entry
try:
    entry()
except SystemExit:
    pass
print("\\n" + " ".join(sys.modules), end="", file=sys.stderr)
"""


def main() -> int:
    options = arguments().parse_args()
    kubectl = str(options.kubectl or default_kubectl())
    try:
        for name in options.only or PARTS:
            runs = {"start": STARTS, "feed": 1, "tui": 1}.get(name, options.runs)
            figures = f"{PARTS[name](kubectl, options)}\n{about(kubectl, runs)}\n"
            print(figures, flush=True)
            if options.write:
                write(f"{name} {size_of(name, options)}".strip(), figures)
    except WrongError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--taskruns", type=int, default=5000)
    parser.add_argument("--claims", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3, help="how often each command is run")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="this part; may be repeated")
    parser.add_argument("--seconds", type=float, default=20, help="how long feed and tui are under events")
    parser.add_argument(
        "--beside",
        action="append",
        default=[],
        metavar="LABEL=FILE",
        help="in start: another kubectl-kres, as of an archive or another Python; may be repeated",
    )
    parser.add_argument("--write", action="store_true", help="also into docs/performance.md")
    parser.add_argument("--kubectl", type=Path, help="default: the one built for the tests, else the one on PATH")
    return parser


def default_kubectl() -> Path:
    built = sorted(CACHE.glob("controlplane/*/kubectl"))
    found = built[-1] if built else shutil.which("kubectl")
    if found is None:
        raise SystemExit("error: kubectl is needed to compare with: --kubectl FILE")
    return Path(found)


def size_of(part: str, options: argparse.Namespace) -> str:
    """How many objects a part is about; empty where that does not matter."""
    if part in {"start", "feed", "tenant"}:
        return ""
    return str({"taskruns": options.taskruns, "claims": options.claims}.get(part, options.pods))


def write(key: str, figures: str) -> None:
    page = with_figures(PAGE.read_text(), key, figures)
    if page is None:
        print(f"{PAGE.name} has no place for {key}\n", file=sys.stderr)
        return
    PAGE.write_text(page)


def about(kubectl: str, runs: int) -> str:
    """The machine, its load after the runs, and the versions, as a line of text."""
    version = subprocess.run([kubectl, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True)
    client = json.loads(version.stdout)["clientVersion"]["gitVersion"]
    cores, load = os.cpu_count(), os.getloadavg()[0]
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{processor()}, {cores} cores, load {load:.1f}; {python}; kubectl {client}; {platform.system()}"
    return f"{datetime.now(UTC).date()}, {runs} {'run' if runs == 1 else 'runs'} of each; {machine}."


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def start(kubectl: str, options: argparse.Namespace) -> str:
    """CPU time of commands that ask no cluster, the least of many runs, and how many modules each imports."""
    demo = ("explain", "--demo", "deploy/checkout", "-n", "checkout")
    asked: list[tuple[Sequence[str], Callable[[str, str], bool]]] = [
        (("--help",), lambda out, _: "Usage:" in out),
        (("version", "--client"), lambda out, _: out.startswith("Client Version")),
        (demo, lambda out, _: "exceeded quota" in out),
    ]
    subjects = [
        Subject("kubectl version --client", (kubectl, "version", "--client"), lambda out, _: "Client Version" in out),
        *(kres(*words, right=right) for words, right in asked),
        *(
            Subject(f"{label} {' '.join(words)}", (program, *words), right)
            for label, _, program in (other.partition("=") for other in options.beside)
            for words, right in asked
        ),
    ]
    runs = in_turn(subjects, STARTS, os.environ)
    base = least(runs[0]).cpu
    rows = [
        [one.name, f"{best.cpu:.3f}", f"{best.cpu / base:.2f}", f"{best.peak:.0f}", *modules(one.command)]
        for one, best in zip(subjects, map(least, runs), strict=True)
    ]
    return table(["start-up", "CPU s", "of kubectl's", "MiB", "modules", "ours"], rows)


def modules(command: Sequence[str]) -> tuple[str, str]:
    """How many modules a Python command imports, and how many of ours; nothing for others."""
    if command[0] != str(KRES):
        return "", ""
    run = [sys.executable, "-c", _LOADED, *command[1:]]
    names = subprocess.run(run, capture_output=True, text=True, check=False).stderr.rpartition("\n")[2].split()
    return str(len(names)), str(sum(name.partition(".")[0] == "kubectl_kres" for name in names))


def sums(kubectl: str, options: argparse.Namespace) -> str:
    """All pods added up, which is held against what was counted while they were made."""
    folder = cluster(options.pods)
    subjects = [all_pods(kubectl, options.pods), summary(folder), *capacity()]
    with served(folder) as environment:
        return table(*compared(f"{options.pods:,} pods, sums", subjects, options.runs, environment))


def summary(folder: Path) -> Subject:
    """The sums of each namespace, as the truth has them."""
    told = {
        name: (one["active"], one["requests"], one["limits"])
        for name, one in truth(folder)["namespaces"].items()
        if one["pods"]
    }
    return kres("qos", "-A", "--summary", "-o", "json", right=lambda out, _: sums_in(out) == told)


def sums_in(out: str) -> dict[str, tuple[int, dict[str, str], dict[str, str]]]:
    """For each namespace how many pods are active, and what they request and are limited to, in thousandths."""

    def thousandths(one: dict, side: str) -> dict[str, str]:
        return {name: str(milli(text)) for name, text in one.get(side, {}).items()}

    found = [one for one in json.loads(out)["items"] if "namespace" in one]
    return {
        one["namespace"]: (one.get("pods", 0), thousandths(one, "requests"), thousandths(one, "limits"))
        for one in found
    }


def pods(kubectl: str, options: argparse.Namespace) -> str:
    """All pods, admitted anew, and all Deployments."""
    count = options.pods
    workloads = json.loads((cluster(count) / "index.json").read_text())["counts"]["deployments"]
    subjects = [
        all_pods(kubectl, count),
        kres("explain", "pods", "-A", right=lambda out, _: f"{count} objects: " in out),
        kres("explain", "deployments", "-A", right=lambda out, _: f"{workloads} objects: " in out),
        # The server lacks kinds that hold nothing, which is said.
        kres("quota", "--denied", "-A", right=lambda out, _: "workloads are refused" in out, code=4),
        differing("diff", "pods", "-A", count=count),
        differing("diff", "pods", "-A", "-o", "name", count=count),
    ]
    with served(cluster(count)) as environment:
        return table(*compared(f"{count:,} pods", subjects, options.runs, environment))


def recount(folder: Path) -> Subject:
    """All quotas recounted; which statuses are stale, as the truth has it."""
    stale = {name: one["stale"] for name, one in truth(folder)["quotas"].items()}
    return kres("quota", "--recount", "-A", "-o", "json", right=lambda out, _: stale_in(out) == stale)


def differing(*words: str, count: int) -> Subject:
    """A comparison of all objects; by name there is a line for each that differs."""

    def right(out: str, err: str) -> bool:
        return f"{lines(out) if 'name' in words else ''} of {count} objects differ" in err

    return kres(*words, right=right, code=1)


def quota(kubectl: str, options: argparse.Namespace) -> str:
    """All quotas recounted, which reads all pods."""
    folder = cluster(options.pods)
    told = truth(folder)["quotas"]
    subjects = [
        all_pods(kubectl, options.pods),
        recount(folder),
        kres("quota", "--recount", "-A", right=lambda out, _: all(name.partition("/")[2] in out for name in told)),
        *capacity(),
    ]
    with served(folder) as environment:
        title = f"{len(told)} quotas, {options.pods:,} pods"
        return table(*compared(title, subjects, options.runs, environment))


def stale_in(out: str) -> dict[str, list[str]]:
    """For each quota the resources whose status is not what was counted."""
    return {
        f"{one['subject']['namespace']}/{one['subject']['name']}": sorted(
            use["name"] for use in one["uses"] if milli(use["used"]) != milli(use["counted"])
        )
        for one in json.loads(out)["items"]
    }


_READ = """import sys
from kubectl_kres.snapshot.read import pages
print(sum(len(page) for page in pages(sys.argv[1], "Pod")), "pods")"""


def snapshots(_: str, options: argparse.Namespace) -> str:
    """A snapshot of all objects written, plain and compressed, and its pods read; MB/s of the JSON of the cluster.

    Of a file that is read it is the JSON in the file.
    """
    folder = cluster(options.pods)
    sent = sum(one.stat().st_size for one in folder.glob("*.items"))
    rows, held = [], 0
    with served(folder) as environment, tempfile.TemporaryDirectory(prefix="bench-") as made:
        for name in ("all.kres", "all.kres.gz"):
            path, told = f"{made}/{name}", f"{options.pods} pods"
            subjects = [
                kres("snapshot", "-A", "--out", path, right=lambda _, err: " objects" in err, code=4),
                Subject("read", (sys.executable, "-c", _READ, path), lambda out, _, told=told: told in out),
            ]
            written, read = map(median, in_turn(subjects, options.runs, environment))
            size = Path(path).stat().st_size
            held = size if name == "all.kres" else held
            for one, run, json_size in (("written", written, sent), ("its pods read", read, held)):
                speed = f"{json_size / 1e6 / run.cpu:.0f}"
                rows.append([f"{name} {one}", f"{run.wall:.2f}", f"{run.cpu:.2f}", f"{run.peak:.0f}", speed,
                             f"{size / 1e6:.1f}", f"{size / sent:.3f}"])  # fmt: skip
    title = f"snapshot, {options.pods:,} pods, {sent / 1e6:.0f} MB"
    return table([title, "wall s", "CPU s", "peak MiB", "MB/s of CPU", "MB", "of the JSON"], rows)


def taskruns(kubectl: str, options: argparse.Namespace) -> str:
    """All TaskRuns of one namespace explained."""
    count = options.taskruns
    asked = ("taskruns", "-n", "ci-runs", "-o", "json")
    folder = cluster(FEW_PODS, taskruns=count)
    told = truth(folder)["taskruns"]
    subjects = [
        Subject(
            "kubectl get taskruns -n ci-runs -o json", (kubectl, "get", *asked), lambda out, _: items(out) == count
        ),
        kres("explain", *asked, right=lambda out, _: totals(out) == (count, told["requests"], told["limits"])),
    ]
    with served(folder) as environment:
        return table(*compared(f"{count:,} TaskRuns", subjects, options.runs, environment))


def totals(out: str) -> tuple[int, dict[str, str], dict[str, str]]:
    """How many objects are explained, and what their pods request and are limited to in all, in thousandths."""
    found = json.loads(out)["items"] if out.startswith("{") else []
    sums: dict[str, dict[str, int]] = {"requests": {}, "limits": {}}
    for total in (each for one in found for each in one.get("totals", ())):
        add(sums[total["side"]], {total["resource"]: milli(total["value"])})
    requests, limits = ({name: str(value) for name, value in sorted(each.items())} for each in sums.values())
    return len(found), requests, limits


def claims(kubectl: str, options: argparse.Namespace) -> str:
    """All claims of the cluster."""
    count = options.claims
    asked = ("get", "resourcepoolclaims", "-A")
    folder = cluster(FEW_PODS, claims=count)
    told = (
        truth(folder)["claims"],
        {
            name: one["waiting"]
            for name, one in json.loads((folder / "claims.json").read_text()).items()
            if one["waiting"]
        },
    )
    subjects = [
        Subject("kubectl get resourcepoolclaims -A", (kubectl, *asked), lambda out, _: lines(out) == count + 1),
        kres("claims", "-A", right=lambda out, _: lines(out) >= count),
        kres("claims", "-A", "-o", "json", right=lambda out, _: queued(out) == told),
    ]
    with served(folder) as environment:
        return table(*compared(f"{count:,} claims", subjects, options.runs, environment))


def queued(out: str) -> tuple[dict[str, int], dict[str, list[str]]]:
    """How many claims are in which state, and for each pool those that wait, in their order."""
    found = json.loads(out)["items"]
    waiting: dict[str, list[tuple[int, str]]] = {}
    for one in found:
        if "place" in one:
            subject = one["subject"]
            line = f"{subject['namespace']}/{subject['name']} {one['state']}"
            waiting.setdefault(one["pool"], []).append((one["queue"]["position"], line))
    states = Counter(one["state"] for one in found)
    return dict(sorted(states.items())), {name: [line for _, line in sorted(each)] for name, each in waiting.items()}


def beside(script: str, *flags: str) -> str:
    """What a script of its own prints."""
    told = subprocess.run([sys.executable, HERE / script, *flags], capture_output=True, text=True, check=False)
    if told.returncode:
        raise WrongError(f"bench/{script} ended with {told.returncode} and said {told.stderr.strip()[-300:]!r}")
    return told.stdout


def feed(_: str, options: argparse.Namespace) -> str:
    return beside("feed.py", "--seconds", str(options.seconds))


def tui(_: str, options: argparse.Namespace) -> str:
    return beside("tui.py", "--pods", str(options.pods), "--seconds", str(options.seconds))


def lines(text: str) -> int:
    return text.count("\n")


def items(text: str) -> int:
    """How many items an answer in JSON has; -1 if it is none."""
    try:
        return len(json.loads(text)["items"])
    except (ValueError, KeyError):
        return -1


PARTS: dict[str, Callable[[str, argparse.Namespace], str]] = {
    "start": start,
    "single": single,
    "sums": sums,
    "pods": pods,
    "slopes": slopes,
    "tenant": tenant,
    "quota": quota,
    "nodes": nodes,
    "snapshots": snapshots,
    "taskruns": taskruns,
    "claims": claims,
    "feed": feed,
    "tui": tui,
}


if __name__ == "__main__":
    sys.exit(main())
