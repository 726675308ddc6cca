#!/usr/bin/env python3
"""Measure ``fleet`` over many snapshots of a synthetic cluster, beside single runs: prints a table in Markdown.

    python bench/fleet.py                         100 snapshots of 10,000 pods: a million pods, two workers
    python bench/fleet.py --snapshots 1000 --pods 1000 --report quota

The snapshot is taken once and linked under many names. ``overhead``: CPU beside that many single answers in one process
that is there already, which is the least that it can take. Figures are reported, not asserted.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import KRES
from served import cluster, served

#: Answers so many tasks in one process, and prints the CPU seconds of one and the peak in MiB.
ONE = """
import resource, sys, time
from kubectl_kres.cli.fleet import answer
from kubectl_kres.cli.fleet import REPORTS
from kubectl_kres.fleet.task import FleetTask
options = {"snapshot": sys.argv[2], "all_namespaces": True, "output": "json", **REPORTS[sys.argv[1]].options,
           **REPORTS[sys.argv[1]].counted}
task = FleetTask("one", sys.argv[1], "one", options)
answer(task)
began = time.process_time()
for _ in range(5):
    assert answer(task).answered
print((time.process_time() - began) / 5, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=10_000, help="of one snapshot")
    parser.add_argument("--snapshots", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", action="append", help="qos, quota or claims; may be repeated")
    options = parser.parse_args()
    print("| report | snapshots | pods | wall s | CPU s | CPU s of as many single answers | overhead | peak MiB |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        one = Path(folder, "one.kres.gz")
        with served(cluster(options.pods, claims=options.pods // 50)) as environment:
            subprocess.run([KRES, "snapshot", "-A", "--allow-partial", "--out", one], env=environment, check=True)
        many = Path(folder, "many")
        many.mkdir()
        for number in range(options.snapshots):
            os.link(one, many / f"c{number:04}.kres.gz")
        for report in options.report or ("qos", "quota", "claims"):
            print(measured(report, one, many, options), flush=True)
    return 0


def measured(report: str, one: Path, many: Path, options: argparse.Namespace) -> str:
    single, peak = map(
        float, subprocess.run([sys.executable, "-c", ONE, report, one], capture_output=True, check=True).stdout.split()
    )
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    words = ["fleet", report, "--snapshots", str(many), "--workers", str(options.workers)]
    subprocess.run([KRES, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    least = single * options.snapshots
    figures = (f"{wall:.1f}", f"{cpu:.1f}", f"{least:.1f}", f"{(cpu / least - 1) * 100:.0f} %", f"{peak:.0f}")
    return f"| {report} | {options.snapshots} | {options.pods * options.snapshots:,} | {' | '.join(figures)} |"


if __name__ == "__main__":
    sys.exit(main())
