#!/usr/bin/env python3
"""Run all tests; further arguments go to pytest, which then runs once.

The test control plane is built if it is missing. Where it cannot be built the end-to-end tests are skipped, and the
reason is said; in CI they fail.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

#: Parts at once: those that wait for controllers, and those that compute, one for each core that is promised.
WAITING, COMPUTING = 3, 2
#: Failed tests of a part that are run again alone, if there are no more.
FEW = 3


class Part(NamedTuple):
    """Tests that one pytest runs. ``waits``: for controllers, and is served first by the cores."""

    name: str
    arguments: list[str]
    waits: bool = False

    def command(self, python: str, folder: Path) -> list[str]:
        """``folder``: keeps what failed."""
        pytest = [python, "-m", "pytest", "-q", "-o", f"cache_dir={folder}", *self.arguments]
        return pytest if self.waits else ["nice", *pytest]


class Run(NamedTuple):
    """A part that runs."""

    part: Part
    process: subprocess.Popen[bytes]
    began: float


def parts() -> list[Part]:
    """All tests in parts, what takes longest first. The last one has what no other one names."""
    autoscaler = _files("vpa_plane", "scheduling_plane", "run_state_plane")
    own = _files(
        "controlplane", "crds", "differential", "emulated_plane", "feed_plane", "policies_plane", "pools_plane",
        "runbooks_of_capsule", "tekton_reports", "terminal_hands_plane", "terminal_plane", "upgrade_plane",
    )  # fmt: skip
    computing = [
        Part("screens", ["tests/tui"]),
        Part("command line", ["tests/cli"]),
        Part("recordings and reports", ["tests/conformance", "tests/reports", "tests/simulate"]),
    ]
    return [
        Part("one control plane for many", ["tests/e2e", *_but(autoscaler + own)], waits=True),
        Part("control planes of their own", own, waits=True),
        Part("autoscaler and scheduler", autoscaler, waits=True),
        *computing,
        Part("the rest", _but(["tests/e2e", *(path for part in computing for path in part.arguments)])),
    ]


def _files(*names: str) -> list[str]:
    return [f"tests/e2e/test_{name}.py" for name in names]


def _but(paths: list[str]) -> list[str]:
    return [f"--ignore={path}" for path in paths]


def run_parts(python: str, folder: Path) -> int:
    """Run all parts, and print what each said once it has ended; the code of the first one that failed, or 0."""
    waiting, codes, running = parts(), dict[str, int](), list[Run]()
    try:
        while waiting or running:
            for part in waiting[:]:
                beside = sum(run.part.waits is part.waits for run in running)
                if beside < (WAITING if part.waits else COMPUTING):
                    waiting.remove(part)
                    running.append(start(python, part, folder / part.name))
            time.sleep(0.05)
            for run in [run for run in running if run.process.poll() is not None]:
                running.remove(run)
                codes[run.part.name] = run.process.returncode
                print(f"\n{run.part.name}, {time.monotonic() - run.began:.0f} s:", flush=True)
                print((folder / run.part.name / "printed").read_text(errors="replace"), end="", flush=True)
    finally:
        for run in running:
            run.process.terminate()
            run.process.wait()
    ends = [alone(python, part, codes[part.name], folder / part.name) for part in parts()]
    return next((code for code in ends if code), 0)


def start(python: str, part: Part, folder: Path) -> Run:
    """``folder``: is made, and gets what the part prints."""
    folder.mkdir()
    with (folder / "printed").open("wb") as printed:
        command = [*part.command(python, folder / "cache"), "--durations=10"]
        return Run(part, subprocess.Popen(command, stdout=printed, stderr=printed), time.monotonic())


def alone(python: str, part: Part, code: int, folder: Path) -> int:
    """The code to end with. A few tests that failed beside others are run again by themselves: what fails again is a
    failure, what passes is named as unstable.
    """
    record = folder / "cache" / "v" / "cache" / "lastfailed"
    failed = len(json.loads(record.read_text())) if record.exists() else 0
    if code != 1 or not 0 < failed <= FEW:
        return code
    print("Failed beside other tests, now alone:", file=sys.stderr, flush=True)
    again = [*part.command(python, folder / "cache"), "--last-failed", "--last-failed-no-failures=none"]
    if subprocess.run(again, stdout=sys.stderr, check=False).returncode:
        return code
    print(f"UNSTABLE: {failed} failed beside other tests and passed alone (named above)", file=sys.stderr)
    return 0


def main(python: str, *words: str) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    built = subprocess.run([python, "tests/controlplane/build.py"], stdout=subprocess.PIPE, text=True, check=False)
    answer = built.stdout.strip()
    if built.returncode not in {0, 3}:
        return built.returncode
    if built.returncode:
        os.environ["KRES_NO_CONTROLPLANE"] = answer
        print(f"control plane: {answer}", file=sys.stderr)
    else:
        os.environ["KUBEBUILDER_ASSETS"] = answer
    if words:
        code = subprocess.run([python, "-m", "pytest", "-q", "--durations=10", *words], check=False).returncode
    else:
        with TemporaryDirectory() as folder:
            code = run_parts(python, Path(folder))
    if built.returncode:
        print(f"The end-to-end tests were skipped: {answer}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.executable, *sys.argv[1:]))
