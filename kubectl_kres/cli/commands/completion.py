"""``kubectl kres completion``: the second name by which kubectl finds out what may follow ``kubectl kres``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

from kubectl_kres.cli.args.options import INSTALL, UNINSTALL, Options
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.program import COMPLETE
from kubectl_kres.errors import UsageError

PROGRAM, COMPLETER = "kubectl-kres", "kubectl_complete-kres"

#: The file's name; kubectl also looks for programs of Windows.
_NAME = f"{COMPLETER}.cmd" if os.name == "nt" else COMPLETER

#: What stands for the link on Windows, where making one needs rights that few have.
_BATCH = f'@"%~dp0{PROGRAM}.exe" {COMPLETE} %*\r\n'

_SHELL = """\
Needs kubectl 1.26 or newer with its own completion set up in your shell: see
kubectl completion --help."""


def run(options: Options, words: tuple[str, ...]) -> int:
    """Makes or removes the link, or says whether it is there; 1 if it is not."""
    if words:
        raise UsageError(f"completion takes no arguments, not {' '.join(words)}", hint=_SHELL)
    if options.install and options.uninstall:
        raise UsageError("--install and --uninstall exclude each other")
    if options.install:
        return _install()
    if options.uninstall:
        return _uninstall()
    installed = shutil.which(COMPLETER)
    if installed:
        click.echo(f"Installed: {installed}")
    elif dangling := next((link for link in _on_path(COMPLETER) if link.is_symlink() and not link.exists()), None):
        click.echo(f"Not installed: {dangling} leads to {dangling.readlink()}, which is gone. Remove it: rm {dangling}")
    else:
        click.echo(f"Not installed: {COMPLETER} is not on PATH. Add --install.")
    click.echo(_SHELL)
    return 0 if installed else 1


def _install() -> int:
    installed = shutil.which(COMPLETER)
    if installed:
        click.echo(f"Already installed: {installed}")
        return 0
    program = _program()
    link = _find_link_path(program)
    target = PROGRAM if link.parent == program.parent else str(program)
    try:
        if os.name == "nt":
            with link.open("x", encoding="ascii", newline="") as file:
                file.write(_BATCH)
        else:
            link.symlink_to(target)
    except OSError as error:
        raise _build_link_error("make", link, error, target) from error
    click.echo(f"Installed: {link}\n{_SHELL}")
    if link.parent == program.parent and _is_installed_by_krew(program):
        click.echo(
            "krew does not know this link: before you uninstall kres, run\n  kubectl kres completion --uninstall"
        )
    return 0


def _uninstall() -> int:
    program = _program()
    beside = program.with_name(_NAME)
    existing = [link for link in dict.fromkeys((beside, *_on_path(_NAME))) if os.path.lexists(link)]
    if not existing:
        click.echo(f"Not installed: {beside} does not exist")
        return 0
    ours = [link for link in existing if _is_own_link(link, program)]
    if not ours:
        raise UsageError(f"{existing[0]} was not created by --install", hint="uninstall it with uv or pipx")
    for link in ours:
        try:
            link.unlink()
        except OSError as error:
            raise _build_link_error("remove", link, error) from error
        click.echo(f"Removed: {link}")
    return 0


def _program() -> Path:
    """The program that kubectl finds. Raises UsageError if it finds none."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise UsageError(f"{PROGRAM} is not on PATH, where kubectl looks for it")
    return Path(program).absolute()


def _on_path(name: str) -> list[Path]:
    """Return where a file of this name is, or would be, in the folders of PATH."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return [Path(folder).absolute() / name for folder in folders if folder]


def _find_link_path(program: Path) -> Path:
    """Return where the link is to be: beside the program, unless krew is harmed by it.

    krew takes a folder with programs and without receipts for that of an older krew, and refuses every command. That is
    how it looks once kres, if it was the only plugin, is uninstalled and the link stays. A krew that installed itself
    has a receipt of its own. Source: krew internal/receiptsmigration.
    """
    if not _is_installed_by_krew(program) or os.name == "nt":
        return program.with_name(_NAME)
    home = os.path.expanduser("~")  # noqa: PTH111, without a home it stays as it is
    user_folders = [Path(home) / ".local" / "bin", Path(home) / "bin"]
    path = {link.parent for link in _on_path(_NAME)}
    chosen = next((folder for folder in user_folders if folder in path and os.access(folder, os.W_OK)), None)
    if chosen is not None:
        return chosen / _NAME
    if (program.parent.parent / "receipts" / "krew.yaml").is_file():
        return program.with_name(_NAME)
    raise UsageError(
        f"a link in {program.parent} would break krew once kres is uninstalled",
        hint=f"make {user_folders[0]}, put it on PATH, and run this again",
    )


def _is_installed_by_krew(program: Path) -> bool:
    """Return whether krew installed the program: it links each from its store."""
    root = program.parent.parent
    return program.parent.name == "bin" and (root / "receipts").is_dir() and (root / "store").is_dir()


def _is_own_link(link: Path, program: Path) -> bool:
    """Return whether it is what ``_install`` makes, wherever that leads by now."""
    if os.name == "nt":
        return link.read_bytes() == _BATCH.encode()
    return link.is_symlink() and link.readlink() in {Path(PROGRAM), program}


def _build_link_error(verb: str, link: Path, error: OSError, target: str = PROGRAM) -> UsageError:
    reason = (error.strerror or str(error)).lower()
    return UsageError(f"cannot {verb} {link}: {reason}", hint=f"ln -s {target} {link}" if verb == "make" else "")


command = Command(
    "completion",
    run,
    text=f"""
        Let kubectl complete commands, flags and names behind "kubectl kres". kubectl asks a program of the name
        {COMPLETER}; pip, pipx and uv install it, krew does not. --install links that name to {PROGRAM}, beside it; what
        krew installed is linked from ~/.local/bin or ~/bin if that is on PATH, since krew minds links of others.

        Names come from the cluster that the flags name, if it answers within 1.5 seconds.
        """,
    examples="""
        # After kubectl krew install kres
        kubectl kres completion --install

        # Before kubectl krew uninstall kres
        kubectl kres completion --uninstall
        """,
    usage="[--install | --uninstall]",
    flags=(INSTALL, UNINSTALL),
    connects=False,
)
