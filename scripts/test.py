"""Runs the tests in parts beside each other, two more than there are cores: much of what is tested waits for a clock.

    test.py short            what `make test` runs: no control plane, and of large matrices some cases
    test.py rest             all that "short" leaves out; the control plane is built if it is missing
    test.py only ARGUMENTS   what the arguments name, for pytest, with a control plane

A part prints its summary when it has ended, and all that it has to say if it failed.  Up to three tests of a part that
fail are run again when nothing else runs: what fails again is a failure, what passes is named as unstable.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCREENS = ("tests/tui",)
PROGRAM = ("tests/cli", "tests/fleet", "tests/integrations", "tests/demo")
HOSTILE = ("tests/hostile", "tests/cluster", "tests/agents", "tests/bench", "tests/controlplane", "tests/architecture")
PLANES = ("tests/e2e",)
OTHER_PLANES = ("demo: ", "demo_kres: ", "extended: ", "extended_kres: ", "ControlPlane(", "watched(")
"""What a test file holds that asks for a control plane beside the one that most tests share."""
SHORT = ("-m", "not thorough", "--hypothesis-profile=short")
SILENCE = 20.0
"""Seconds after which it says how far the parts are."""
THOROUGH = ("-m", "thorough or hypothesis")


@dataclass
class Part:
    """Tests that run in one process, and the folder for what it printed and which tests failed."""

    name: str
    command: list[str]
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    again: list[str] = field(default_factory=list)

    @property
    def printed(self) -> str:
        return (self.folder / "printed").read_text(errors="replace")

    def start(self) -> None:
        self.began = time.monotonic()
        with (self.folder / "printed").open("wb") as file:
            self.process = subprocess.Popen(self.command, stdout=file, stderr=subprocess.STDOUT, cwd=ROOT)

    def progress(self) -> str:
        shares = re.findall(r"\[ *(\d+%)\]", self.printed)
        return shares[-1] if shares else "began"

    def failed_tests(self) -> int:
        try:
            return len(json.loads((self.folder / "cache" / "v" / "cache" / "lastfailed").read_text()))
        except OSError:
            return 0


def pytest(name: str, folder: Path, arguments: list[str]) -> Part:
    (folder / name).mkdir()
    cache = f"cache_dir={folder / name / 'cache'}"
    part = Part(name, [sys.executable, "-m", "pytest", "-q", "-o", cache, *arguments], folder / name)
    part.again = [*part.command, "--last-failed", "--last-failed-no-failures=none"]
    return part


def checks(folder: Path) -> Part:
    (folder / "checks").mkdir()
    return Part("checks", ["scripts/check", sys.executable], folder / "checks")


def parts(mode: str, folder: Path) -> list[Part]:
    """What runs, the longest first."""
    select = list(SHORT if mode == "short" else THOROUGH)
    others = [f"--ignore={path}" for path in (*SCREENS, *PROGRAM, *HOSTILE, *PLANES)]
    common = [
        pytest("hostile", folder, [*select, *HOSTILE]),
        pytest("screens", folder, [*select, *SCREENS]),
        pytest("program", folder, [*select, *PROGRAM]),
        pytest("answers", folder, [*select, *others, "tests"]),
    ]
    if mode == "short":
        return [*common, checks(folder)]
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "e2e").glob("test_*.py"))
    apart = [file for file in files if any(words in (ROOT / file).read_text() for words in OTHER_PLANES)]
    halves = {"planes": apart, "shared": [file for file in files if file not in apart]}
    return [*(pytest(name, folder, ["--durations=5", *half]) for name, half in halves.items()), *common]


def export_control_plane() -> None:
    """Name the folder of a control plane's programs to the tests, or why there is none; may end the program."""
    build = [sys.executable, "tests/controlplane/build.py"]
    done = subprocess.run(build, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    answer = done.stdout.strip()
    if done.returncode == 0:
        os.environ["KUBEBUILDER_ASSETS"] = answer
    elif done.returncode == 3:
        os.environ["KRES_NO_CONTROLPLANE"] = answer
        print(f"control plane: {answer}; the end-to-end tests are skipped", flush=True)
    else:
        sys.exit(done.returncode)


def run(waiting: list[Part]) -> list[Part]:
    """Run the parts; those that failed."""
    running: list[Part] = []
    failed: list[Part] = []
    told = time.monotonic()
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 2) + 2:
            running.append(waiting.pop(0))
            running[-1].start()
        time.sleep(0.2)
        if time.monotonic() - told > SILENCE:
            told = time.monotonic()
            print(" " * 8, *(f"{part.name} {part.progress()}" for part in running), sep="  ", flush=True)
        for part in [part for part in running if part.process and part.process.poll() is not None]:
            running.remove(part)
            code = part.process.returncode if part.process else 1
            seconds = time.monotonic() - part.began
            last = part.printed.strip().splitlines()[-1:] or [""]
            print(f"{part.name:8}  {'passed' if code == 0 else 'FAILED'}  {seconds:4.0f} s  {last[0]}", flush=True)
            if code:
                failed.append(part)
    return failed


def passes_alone(part: Part) -> bool:
    """Whether the few tests that failed pass when nothing else runs."""
    print(f"\n== {part.name}\n{part.printed}", flush=True)
    count = part.failed_tests()
    if not 1 <= count <= 3 or part.process is None or part.process.returncode != 1:
        return False
    print(f"== {part.name}: {count} failed beside other tests, now alone", flush=True)
    if subprocess.run(part.again, cwd=ROOT, check=False).returncode:
        return False
    print(f"UNSTABLE: {count} failed beside other tests and passed alone (named above)", flush=True)
    return True


def main(mode: str, *arguments: str) -> int:
    if mode != "short":
        export_control_plane()
    if mode == "only":
        command = [sys.executable, "-m", "pytest", "-q", "--durations=10", *arguments]
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    with tempfile.TemporaryDirectory() as folder:
        all_parts = parts(mode, Path(folder))
        failed = run(list(all_parts))
        unstable = [passes_alone(part) for part in failed]
        skipped = {line for part in all_parts for line in re.findall(r"^SKIPPED .*", part.printed, re.MULTILINE)}
        print("", *sorted(skipped), sep="\n")
        left_out = sum(int(count) for part in all_parts for count in re.findall(r"(\d+) deselected", part.printed))
    if mode == "short":
        print(f"Not run: {left_out} cases, and the tests on real servers (tests/e2e). All of it: make test-all")
    return int(not all(unstable))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
