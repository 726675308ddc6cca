"""How long the bundle takes to start, beside the script of a virtual environment with the same Python."""

from __future__ import annotations

import subprocess
from pathlib import Path
from time import perf_counter

#: What is measured, and how often; the best run counts, since others only show what else the machine did.
COMMANDS = (("version", "--client"), ("--help",), ("explain", "--demo", "deploy/cart", "-n", "shop"))
RUNS = 15

#: A bundle that takes so much longer than the script is not released.
SLOWEST = 1.5


def compare(script: Path, bundle: Path) -> int:
    """Prints a line for each command; 1 if the bundle takes too long."""
    late = False
    for words in COMMANDS:
        _run(script, words), _run(bundle, words)  # from the disk once, for both
        ours, theirs = 1e9, 1e9
        for _ in range(RUNS):
            theirs, ours = min(theirs, _run(script, words)), min(ours, _run(bundle, words))
        ratio = ours / theirs
        late |= ratio > SLOWEST
        text = f"{' '.join(words)}: bundle {ours * 1000:.0f} ms, script {theirs * 1000:.0f} ms, ratio {ratio:.2f}"
        print(text + (f", more than {SLOWEST}" if ratio > SLOWEST else ""))
    return int(late)


def _run(program: Path, words: tuple[str, ...]) -> float:
    """Seconds from start to end."""
    began = perf_counter()
    subprocess.run([str(program), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - began
