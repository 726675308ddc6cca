"""``completion --install``: the link beside the program, and nothing else touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.running import Kres


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is PATH, with the program as krew links it: from a store that changes with each version."""
    store = tmp_path / "store"
    store.mkdir()
    (store / "kubectl-kres").write_text("#!/bin/sh\n")
    (store / "kubectl-kres").chmod(0o755)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kubectl-kres").symlink_to(store / "kubectl-kres")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_install_and_uninstall(kres: Kres, folder: Path):
    link = folder / "kubectl_complete-kres"
    assert kres("completion").code == 1
    code, out, err = kres("completion --install")
    assert (code, out.splitlines()[0], err) == (0, f"Installed: {link}", "")
    assert str(link.readlink()) == "kubectl-kres"
    assert kres("completion").out.startswith(f"Installed: {link}\n")
    assert kres("completion --install").out == f"Already installed: {link}\n"
    assert kres("completion --uninstall").out == f"Removed: {link}\n"
    assert sorted(path.name for path in folder.iterdir()) == ["kubectl-kres"]
    assert kres("completion --uninstall").out == f"Not installed: {link} does not exist\n"


def test_what_was_not_made_here_stays(kres: Kres, folder: Path):
    script = folder / "kubectl_complete-kres"
    script.write_text("#!/bin/sh\n")
    code, _, err = kres("completion --uninstall")
    assert (code, err.splitlines()[0]) == (2, f"error: {script} is not a link that --install made")
    assert kres("completion --install").code == 2
    assert script.read_text() == "#!/bin/sh\n"


def test_a_folder_that_may_not_be_written(kres: Kres, folder: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(self: Path, target: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    link = folder / "kubectl_complete-kres"
    code, out, err = kres("completion --install")
    assert (code, out) == (2, "")
    assert err == f"error: cannot make {link}: permission denied\nln -s kubectl-kres {link}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("bash", "completion takes no arguments, not bash"),
        ("--install --uninstall", "--install and --uninstall exclude each other"),
    ],
)
def test_usage(kres: Kres, words: str, said: str):
    code, _, err = kres(f"completion {words}")
    assert (code, err.splitlines()[0]) == (2, f"error: {said}")
