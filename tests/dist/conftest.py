"""The archive that ``make dist`` built, laid out as krew does it, and a world around it without Python."""

from __future__ import annotations

import os
import shutil
import ssl
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.apiserver import Api
from cluster.conftest import certificates
from cluster.kubectl import FOUND
from dist.installed import Installed, Secured

from release import archive, names

PACKAGE = names.ROOT / "kubectl_kres"
ARCHIVE = names.DIST / names.archive(names.tag(names.version()), names.here())
WHEEL = f"kubectl_kres-{names.version()}-*.whl"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips these tests where there is nothing to test; ``make dist`` wants them all."""
    here = Path(__file__).parent
    ours = [item for item in items if item.path.is_relative_to(here)]
    lacking = _lacking() if ours and os.environ.get("KRES_DIST") != "required" else ""
    for item in ours:
        item.add_marker(pytest.mark.dist)
        if lacking:
            item.add_marker(pytest.mark.skip(f"{lacking}: make dist builds it"))


def _lacking() -> str:
    """Why what lies in ``dist`` cannot be tested; empty if it can."""
    if not ARCHIVE.exists():
        return f"there is no dist/{ARCHIVE.name}"
    found = list(names.DIST.glob(WHEEL))
    if not found:
        return f"there is no dist/{WHEEL}"
    changed = _changed(found[0])
    return f"dist was made from other sources ({changed[0]} and {len(changed) - 1} more)" if changed else ""


def _changed(wheel: Path) -> list[str]:
    """The files of the package that are not what the wheel holds."""
    with zipfile.ZipFile(wheel) as packed:
        held = {name: packed.read(name) for name in packed.namelist() if name.startswith("kubectl_kres/")}
    sources = {
        path.relative_to(names.ROOT).as_posix(): path.read_bytes()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return sorted(name for name in held.keys() | sources.keys() if held.get(name) != sources.get(name))


@pytest.fixture(scope="session")
def wheel() -> Path:
    (found,) = names.DIST.glob(WHEEL)
    return found


@pytest.fixture(scope="session")
def archived() -> Path:
    return ARCHIVE


@pytest.fixture(scope="session")
def store(archived: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where krew keeps the files of this version."""
    store = tmp_path_factory.mktemp("krew") / "store" / "kres" / names.tag(names.version())
    store.mkdir(parents=True)
    archive.unpack(archived, store)
    return store


@pytest.fixture
def installed(store: Path, tmp_path: Path) -> Installed:
    """As krew leaves it: the files in a store, a link on PATH; kubectl beside it, and nothing else."""
    if not FOUND:
        pytest.skip("there is no kubectl")
    path = tmp_path / "bin"
    path.mkdir()
    (path / "kubectl-kres").symlink_to(store / "kubectl-kres")
    (path / "kubectl").symlink_to(Path(FOUND).resolve())
    assert not [name for name in ("python3", "python", "sh") if shutil.which(name, path=str(path))]
    return Installed(store, path, tmp_path)


@pytest.fixture
def api() -> Iterator[Api]:
    yield from _serving(Api())


@pytest.fixture
def secured(certificates: Path) -> Iterator[Secured]:
    """The same over TLS, for who shows the token ``right``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    server = Secured(certificates / "ca.crt")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    yield from _serving(server)


def _serving(server: Api) -> Iterator[Api]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
