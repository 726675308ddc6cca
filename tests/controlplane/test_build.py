"""Where the binaries of the control plane come from, with programs of a few lines in their place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import build
import pytest

ALL = [binary.name for binary in build.BINARIES]
CONTROLPLANE = ALL[:4]
GO = """
case "$1" in
version) echo "go version {version} linux/amd64" ;;
list) printf 'a/b\\na/c\\na/d\\n' ;;
build)
  [ "$GOTOOLCHAIN" = local ] || exit 9
  echo "$PWD $*" >>{log}
  while [ "$1" != -o ]; do shift; done
  printf '#!/bin/sh\\necho Kubernetes v1.37.2\\n' >"$2"
  chmod +x "$2"
  {then} ;;
esac
"""


class Machine:
    """A folder with a PATH, a cache and an assets folder of its own, and what build.py does there."""

    def __init__(self, root: Path) -> None:
        self.root, self.bin, self.assets, self.log = root, root / "bin", root / "assets", root / "go.log"
        self.bin.mkdir()
        self.env = {"PATH": f"{self.bin}:/bin:/usr/bin", "XDG_CACHE_HOME": str(root / "cache")}

    def program(self, path: Path, script: str) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def asset(self, *names: str, version: str = "Kubernetes v1.37.2") -> None:
        self.env["KUBEBUILDER_ASSETS"] = str(self.assets)
        for name in names:
            self.program(self.assets / name, f"echo {version}")

    def go(self, version: str = "go1.26.8", then: str = "true") -> None:
        self.program(self.bin / "go", GO.format(version=version, log=self.log, then=then))

    def start(self) -> subprocess.Popen[str]:
        # PATH ends with the machine's own programs, so that the shell is found; a go or kubectl there is hidden.
        hide = "import shutil, sys; which = shutil.which; sys.path.insert(0, sys.argv[1]); sys.argv[1:] = []; "
        hide += f"shutil.which = lambda name: which(name, path={str(self.bin)!r}); import build; sys.exit(build.main())"
        command = [sys.executable, "-c", hide, str(build.HERE)]
        return subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self) -> tuple[int, str, str]:
        with self.start() as process:
            out, err = process.communicate(timeout=60)
        return process.returncode, out.removesuffix("\n"), err

    def built(self) -> list[str]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.rpartition("/")[2] if "kubernetes/cmd" in line else "etcd" for line in lines]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def names(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def test_builds_all_once(machine: Machine) -> None:
    machine.go()
    code, folder, progress = machine.run()
    assert (code, machine.built(), names(folder)) == (0, ALL, sorted(ALL))
    assert Path(folder).is_relative_to(machine.env["XDG_CACHE_HOME"])
    assert "about 5:20" in progress
    assert "kubectl: built in 0:00" in progress
    assert machine.run() == (0, folder, "")
    assert machine.built() == ALL


def test_builds_from_the_pinned_modules(machine: Machine) -> None:
    machine.go()
    machine.run()
    etcd, server, *_ = machine.log.read_text().splitlines()
    assert etcd.startswith(f"{build.HERE / 'etcd'} build ")
    assert server.startswith(f"{build.HERE / 'kubernetes'} build ")
    assert " -mod=readonly " in server
    assert "-X k8s.io/component-base/version.gitVersion=v1.37.2 " in server


def test_two_runs_build_once(machine: Machine) -> None:
    machine.go(then="sleep 0.1")
    with machine.start() as first, machine.start() as second:
        folders = {process.communicate(timeout=60)[0] for process in (first, second)}
    assert len(folders) == 1
    assert machine.built() == ALL


def test_kubectl_of_path_is_enough(machine: Machine) -> None:
    machine.go()
    machine.program(machine.bin / "kubectl", "true")
    assert machine.run()[0] == 0
    assert machine.built() == CONTROLPLANE


def test_complete_assets_need_no_go(machine: Machine) -> None:
    machine.asset(*ALL)
    assert machine.run() == (0, str(machine.assets), "")


def test_what_assets_lack_is_built(machine: Machine) -> None:
    machine.asset("etcd", "kube-apiserver", "kubectl")
    machine.go()
    code, folder, _ = machine.run()
    assert (code, machine.built(), names(folder)) == (0, ["kube-controller-manager", "kube-scheduler"], sorted(ALL))
    assert (Path(folder) / "etcd").readlink() == machine.assets / "etcd"
    assert machine.run() == (0, folder, "")


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("Kubernetes v1.31.0", "is v1.31.0, not v1.37.2: not used (KRES_ANY_ASSETS=1 takes it)"),
        ("", "is of no version, not v1.37.2: not used"),
        ("; exit 1", "is not able to run (CalledProcessError), not v1.37.2: not used"),
    ],
)
def test_another_version_is_refused(machine: Machine, version: str, said: str) -> None:
    machine.asset(*ALL, version=version)
    code, reason, progress = machine.run()
    assert (code, progress.count("not used")) == (3, 3)
    assert f"kube-apiserver {said}" in progress
    lacking = "kube-apiserver, kube-controller-manager, kube-scheduler"
    assert reason.startswith(f"no {lacking} in KUBEBUILDER_ASSETS and no Go >= 1.26")
    machine.env["KRES_ANY_ASSETS"] = "1"
    assert machine.run() == (0, str(machine.assets), "")


@pytest.mark.parametrize("version", ["go1.25.9", "go1.9", "nonsense"])
def test_unfit_go(machine: Machine, version: str) -> None:
    machine.go(version)
    code, reason, _ = machine.run()
    assert (code, machine.built()) == (3, [])
    assert reason.endswith("Go >= 1.26 builds them")
    assert "\n" not in reason


@pytest.mark.parametrize("version", ["go1.26", "go1.27.1", "go1.28-devel_abc", "go2.0"])
def test_fit_go(machine: Machine, version: str) -> None:
    machine.go(version)
    assert machine.run()[0] == 0


def test_failed_build_leaves_nothing(machine: Machine) -> None:
    machine.go(then="echo compiling >&2; echo no space left on device >&2; exit 1")
    code, reason, progress = machine.run()
    assert (code, reason) == (3, "go build of etcd failed: no space left on device")
    assert "compiling" in progress
    assert [path for path in machine.root.rglob("*etcd*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("compiled", "of", "said"),
    [
        (2, 1851, "kube-apiserver: 2 of 1851 packages compiled, 1:05 so far"),
        (1851, 1851, "kube-apiserver: 1851 of 1851 packages compiled, linking, 1:05 so far"),
        (2, 0, "kube-apiserver: 2 packages compiled, 1:05 so far"),
    ],
)
def test_progress_is_what_is_done_of_what_there_is(compiled: int, of: int, said: str) -> None:
    lines = ["go: downloading a v1\n", *("a/b\n" for _ in range(compiled))]
    assert build.progress(build.BINARIES[1], 65.4, lines, of) == said


def test_go_says_how_many_packages_it_will_compile(machine: Machine) -> None:
    machine.go()
    assert build.packages_to_compile(str(machine.bin / "go"), build.BINARIES[1]) == 3
    machine.program(machine.bin / "go", "echo a/b; exit 1")
    assert build.packages_to_compile(str(machine.bin / "go"), build.BINARIES[1]) == 0


def test_locate_never_builds(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.go()
    for name, value in machine.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    with pytest.raises(build.NoBinaryError, match=r"^no etcd, kube-apiserver, .* yet: `make test`"):
        build.locate()
    assert machine.built() == []


def test_a_cache_that_may_not_be_written(machine: Machine) -> None:
    machine.go()
    (machine.root / "file").write_text("")
    machine.env["XDG_CACHE_HOME"] = str(machine.root / "file")
    code, out, err = machine.run()
    assert code == 3 and "Traceback" not in err
    assert "cannot be written" in out and "XDG_CACHE_HOME names another place" in out


def test_without_go_nothing_is_written(machine: Machine) -> None:
    machine.env["XDG_CACHE_HOME"] = str(machine.root / "none")
    code, out, err = machine.run()
    assert (code, "Traceback" in err) == (3, False)
    assert "no Go >= " in out
    assert not (machine.root / "none").exists()


def test_without_a_home(machine: Machine) -> None:
    del machine.env["XDG_CACHE_HOME"]
    code, _, err = machine.run()
    assert (code, "Traceback" in err) == (3, False)
