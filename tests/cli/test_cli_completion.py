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
    assert (code, err.splitlines()[0]) == (2, f"error: {script} was not created by --install")
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


@pytest.fixture
def krew(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same folder with krew's receipts, and a home without folders of programs."""
    (tmp_path / "receipts").mkdir()
    (tmp_path / "receipts" / "kres.yaml").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


def taken_for_an_older_krew(root: Path) -> bool:
    """What krew looks at before every command. Source: krew internal/receiptsmigration, checkInstallation."""
    return any((root / "bin").iterdir()) and not any((root / "receipts").iterdir())


def test_beside_krews_only_plugin_there_is_no_link(kres: Kres, krew: Path):
    code, out, err = kres("completion --install")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: a link in {krew} would break krew once kres is uninstalled\nmake ")
    assert sorted(path.name for path in krew.iterdir()) == ["kubectl-kres"]


@pytest.mark.parametrize("name", [".local/bin", "bin"])
def test_krew_is_left_alone_where_there_is_another_folder(
    kres: Kres, krew: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    own = tmp_path / "home" / name
    own.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{krew}:{own}")
    link = own / "kubectl_complete-kres"
    assert kres("completion --install").out.startswith(f"Installed: {link}\n")
    assert link.readlink() == krew / "kubectl-kres"
    (krew / "kubectl-kres").rename(tmp_path / "gone")  # krew uninstall kres
    (tmp_path / "receipts" / "kres.yaml").unlink()
    assert not taken_for_an_older_krew(tmp_path)
    assert kres("completion").out.startswith(f"Not installed: {link} leads to {krew}/kubectl-kres, which is gone.")
    (tmp_path / "gone").rename(krew / "kubectl-kres")
    assert kres("completion --uninstall").out == f"Removed: {link}\n"


def test_a_krew_that_installed_itself_is_not_harmed(kres: Kres, krew: Path, tmp_path: Path):
    (tmp_path / "receipts" / "krew.yaml").write_text("")
    out = kres("completion --install").out
    assert out.startswith(f"Installed: {krew / 'kubectl_complete-kres'}\n")
    assert out.endswith("before you uninstall kres, run\n  kubectl kres completion --uninstall\n")
    (krew / "kubectl-kres").unlink()
    (tmp_path / "receipts" / "kres.yaml").unlink()
    assert not taken_for_an_older_krew(tmp_path)
