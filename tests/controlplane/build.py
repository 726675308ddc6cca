#!/usr/bin/env python3
"""The binaries of a control plane for tests: those of KUBEBUILDER_ASSETS, the rest from a cache that Go fills.

As a command it prints one line on stdout: the folder that holds them (exit code 0), or why there is none (3).
Progress goes to stderr.  As a library, ``locate`` gives the same folder without ever building.

    KUBEBUILDER_ASSETS   a folder that may hold some or all of them
    KRES_ANY_ASSETS=1    take them from there whatever their version
    XDG_CACHE_HOME       parent of the cache folder (~/.cache)
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
GO_MOD = HERE / "kubernetes" / "go.mod"
TICK = 10.0
"""Seconds between two lines of progress."""


class NoBinaryError(Exception):
    """A binary is neither found nor built; the message is one line that says why."""


@dataclass(frozen=True)
class Binary:
    """One program: the folder of its go.mod, its package, and the seconds that two cores took with an empty cache."""

    name: str
    module: str
    package: str
    seconds: int


BINARIES = (
    Binary("etcd", "etcd", "go.etcd.io/etcd/server/v3", 40),
    Binary("kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver", 185),
    Binary("kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager", 45),
    Binary("kube-scheduler", "kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler", 30),
    Binary("kubectl", "kubernetes", "k8s.io/kubernetes/cmd/kubectl", 20),
)
KUEUE = Binary("kueue", "kueue", "sigs.k8s.io/kueue/cmd/kueue", 200)
"""No part of a control plane, and asked for apart: most tests need none."""
DEFINITIONS = "config/components"
"""Folder of Kueue's module with its definitions and webhooks, which are kept beside the program."""
VERSIONED = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
"""Those whose version decides what the tests see."""


def wanted() -> tuple[Binary, ...]:
    """What a control plane needs: kubectl only if none is on PATH."""
    return tuple(binary for binary in BINARIES if binary.name != "kubectl" or not shutil.which("kubectl"))


def pinned(name: str) -> str:
    """What Kubernetes' go.mod, the one place that states versions, says after ``name``, without the letter v."""
    match = re.search(rf"^(?:require )?\s*{re.escape(name)} v?([\d.]+)\b", GO_MOD.read_text(), re.MULTILINE)
    if match is None:
        raise NoBinaryError(f"{GO_MOD} does not state a version of {name}")
    return match[1]


def target() -> tuple[str, str]:
    """Go's names for this system and processor."""
    machine = platform.machine().lower()
    return platform.system().lower(), {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def cache_folder(*modules: str) -> Path:
    """Where built binaries are kept: one folder for each state of the go.mod and go.sum files and each platform.

    ``modules``: whose files they are; none: those of the control plane.
    """
    digest = hashlib.sha256()
    for module in modules or ("etcd", "kubernetes"):
        for file in ("go.mod", "go.sum"):
            digest.update((HERE / module / file).read_bytes())
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111, fails without a home
    return home / "kubectl-kres" / "controlplane" / "-".join([digest.hexdigest()[:12], *target()])


def from_assets(binary: Binary) -> Path | None:
    """The binary in KUBEBUILDER_ASSETS; None if it is absent, or refused for its version (said on stderr)."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    path = Path(folder or "", binary.name).absolute()
    if not folder or not os.access(path, os.X_OK):
        return None
    if binary.name not in VERSIONED or os.environ.get("KRES_ANY_ASSETS") == "1":
        return path
    needed, version = f"v{pinned('k8s.io/kubernetes')}", reported_version(path)
    if version == needed:
        return path
    say(f"{path} is {version}, not {needed}: not used (KRES_ANY_ASSETS=1 takes it)")
    return None


def reported_version(path: Path) -> str:
    """What ``--version`` prints, without the word Kubernetes; if it does not run, why."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return f"not able to run ({error.__class__.__name__})"
    return done.stdout.strip().removeprefix("Kubernetes ") or "of no version"


def find() -> dict[Binary, Path]:
    """Path of each wanted binary that exists, KUBEBUILDER_ASSETS before the cache."""
    cache = cache_folder()
    found = {binary: from_assets(binary) or cache / binary.name for binary in wanted()}
    return {binary: path for binary, path in found.items() if path.exists()}


def locate() -> Path:
    """The folder that holds all wanted binaries; raises NoBinaryError, naming what does not exist yet."""
    found = find()
    lacking = [binary.name for binary in wanted() if binary not in found]
    if lacking:
        raise NoBinaryError(f"no {', '.join(lacking)} yet: `make test` or tests/controlplane/build.py builds them")
    return gather(found)


def complete() -> Path:
    """The folder that holds all wanted binaries, those that lack being built; raises NoBinaryError."""
    found = find()
    lacking = [binary for binary in wanted() if binary not in found]
    if lacking:
        build_all(lacking, cache_folder())
    return gather({**found, **{binary: cache_folder() / binary.name for binary in lacking}})


def kueue() -> Path:
    """The folder that holds Kueue's manager and its ``config/components``, built if it is not there; raises
    NoBinaryError.
    """
    folder = cache_folder(KUEUE.module)
    if not (folder / KUEUE.name).exists():
        build_all([KUEUE], folder)
    if not (folder / DEFINITIONS).exists():
        command = [usable_go([KUEUE]), "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue"]
        done = subprocess.run(
            command, cwd=HERE / KUEUE.module, env=go_environment(), capture_output=True, text=True, check=True
        )
        fresh = folder / f".definitions.{os.getpid()}"
        for file in Path(done.stdout.strip(), DEFINITIONS).rglob("*.yaml"):
            copy = fresh / file.relative_to(Path(done.stdout.strip(), DEFINITIONS))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
        (folder / DEFINITIONS).parent.mkdir(exist_ok=True)
        fresh.replace(folder / DEFINITIONS)
    return folder


def kubectl(folder: Path) -> Path:
    """The real kubectl: the one on PATH, else the built one in ``folder``."""
    return Path(shutil.which("kubectl") or folder / "kubectl")


def gather(found: dict[Binary, Path]) -> Path:
    """The folder where all of them are, made of links if they come from several."""
    if len({path.parent for path in found.values()}) == 1:
        return next(iter(found.values())).parent
    cache = cache_folder()
    paths = "\n".join(sorted(map(str, found.values())))
    folder = cache.with_name(f"{cache.name}-with-{hashlib.sha256(paths.encode()).hexdigest()[:12]}")
    folder.mkdir(parents=True, exist_ok=True)
    for binary, path in found.items():
        if not (folder / binary.name).is_symlink():
            fresh = folder / f".{binary.name}.{os.getpid()}"
            fresh.symlink_to(path)
            fresh.replace(folder / binary.name)
    return folder


def build_all(lacking: list[Binary], folder: Path) -> None:
    """Build into a folder of the cache, once however many ask; raises NoBinaryError."""
    go = usable_go(lacking)
    with locked(folder.with_name(folder.name + ".lock")):
        lacking = [binary for binary in lacking if not (folder / binary.name).exists()]
        if not lacking:
            return
        folder.mkdir(parents=True, exist_ok=True)
        total, names = sum(binary.seconds for binary in lacking), ", ".join(binary.name for binary in lacking)
        say(f"building {names}: about {clock(total)} of work for two idle cores, once; kept in {folder}")
        for binary in lacking:
            build(go, binary, folder)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file; another run that builds is waited for. Raises NoBinaryError where nothing may be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        why = f"{path.parent} cannot be written ({error.strerror})"
        raise NoBinaryError(f"{why}: XDG_CACHE_HOME names another place for what is built") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another run is building the control plane: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def usable_go(lacking: list[Binary]) -> str:
    """Path of a Go that is new enough; raises NoBinaryError."""
    names, needed = ", ".join(binary.name for binary in lacking), ".".join(pinned("go").split(".")[:2])
    go = shutil.which("go")
    if go is None:
        raise NoBinaryError(f"no {names} in KUBEBUILDER_ASSETS and no Go >= {needed} on PATH to build them")
    done = subprocess.run([go, "version"], capture_output=True, text=True, env=go_environment(), check=False)
    match = re.search(r"\bgo(\d+)\.(\d+)", done.stdout)
    if match is None or (int(match[1]), int(match[2])) < tuple(map(int, needed.split("."))):
        version = match[0] if match else "a Go that does not tell its version"
        raise NoBinaryError(f"no {names} in KUBEBUILDER_ASSETS, and {go} is {version}: Go >= {needed} builds them")
    return go


def go_environment() -> dict[str, str]:
    """This process's environment; Go fetches no toolchain, heeds no workspace and builds for this machine."""
    goos, goarch = target()
    return {**os.environ, "GOTOOLCHAIN": "local", "GOWORK": "off", "GOOS": goos, "GOARCH": goarch}


def build(go: str, binary: Binary, folder: Path) -> None:
    """Build one binary into ``folder``, under a temporary name until it is whole; raises NoBinaryError."""
    began = time.monotonic()
    to_compile = packages_to_compile(go, binary)
    temporary = folder / f".{binary.name}.{os.getpid()}"
    version = pinned("k8s.io/kubernetes")
    major, minor, _ = version.split(".")
    stamp = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    flags = " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamp.items())
    command = [go, "build", "-v", "-mod=readonly", "-buildvcs=false", f"-ldflags=-s -w {flags}"]
    command += ["-o", str(temporary), binary.package]
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=HERE / binary.module, env=go_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        reader = threading.Thread(target=lambda: lines.extend(map(bytes.decode, process.stderr or ())), daemon=True)
        reader.start()
        try:
            while not ended(process):
                say(progress(binary, time.monotonic() - began, lines, to_compile))
        except BaseException:
            process.kill()
            raise
        finally:
            reader.join()
            if process.poll() != 0:
                temporary.unlink(missing_ok=True)
    if process.returncode:
        sys.stderr.write("".join(lines[-20:]))
        raise NoBinaryError(f"go build of {binary.name} failed: {lines[-1].strip() if lines else process.returncode}")
    temporary.replace(folder / binary.name)
    say(f"{binary.name}: built in {clock(time.monotonic() - began)}")


def ended(process: subprocess.Popen[bytes]) -> bool:
    """Wait one tick; whether the process ended in it."""
    try:
        process.wait(TICK)
    except subprocess.TimeoutExpired:
        return False
    return True


def packages_to_compile(go: str, binary: Binary) -> int:
    """How many packages Go still has to compile; 0 if it does not tell.  Fetches the modules that are missing."""
    command = [go, "list", "-mod=readonly", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", binary.package]
    say(f"{binary.name}: fetching its modules")
    done = subprocess.run(
        command, cwd=HERE / binary.module, env=go_environment(), capture_output=True, text=True, check=False
    )
    return len(done.stdout.split()) if done.returncode == 0 else 0


def progress(binary: Binary, elapsed: float, lines: list[str], to_compile: int) -> str:
    """One line: how many packages Go compiled of those it has to, the time taken, and what the last step is."""
    compiled = sum(not line.startswith("go: ") for line in lines)
    if to_compile and compiled >= to_compile:
        return f"{binary.name}: {compiled} of {to_compile} packages compiled, linking, {clock(elapsed)} so far"
    share = f"{compiled} of {to_compile} packages" if to_compile else f"{compiled} packages"
    return f"{binary.name}: {share} compiled, {clock(elapsed)} so far"


def clock(seconds: float) -> str:
    """Minutes and seconds as m:ss."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def say(line: str) -> None:
    """One line of progress."""
    print(f"control plane: {line}", file=sys.stderr, flush=True)


def main() -> int:
    try:
        print(complete())
    except NoBinaryError as reason:
        print(reason)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
