"""``kubectl kres completion``: the second name by which kubectl finds out what may follow ``kubectl kres``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

from kubectl_kres.cli.command import Command
from kubectl_kres.cli.main import COMPLETE
from kubectl_kres.cli.options import INSTALL, UNINSTALL, Options
from kubectl_kres.errors import UsageError

PROGRAM, COMPLETER = "kubectl-kres", "kubectl_complete-kres"

#: What stands for the link on Windows, where making one needs rights that few have.
_BATCH = f'@"%~dp0{PROGRAM}.exe" {COMPLETE} %*\r\n'

_SHELL = """\
kubectl asks it from version 1.26 on, if kubectl's own completion is set up in
your shell: see kubectl completion --help."""


def run(options: Options, words: tuple[str, ...]) -> int:
    """Makes or removes the link beside the program, or says whether it is there; 1 if it is not."""
    if words:
        raise UsageError(f"completion takes no arguments, not {' '.join(words)}", hint=_SHELL)
    if options.install and options.uninstall:
        raise UsageError("--install and --uninstall exclude each other")
    if options.install:
        return _install()
    if options.uninstall:
        return _uninstall()
    found = shutil.which(COMPLETER)
    click.echo(f"Installed: {found}" if found else f"Not installed: {COMPLETER} is not on PATH. Add --install.")
    click.echo(_SHELL)
    return 0 if found else 1


def _install() -> int:
    found = shutil.which(COMPLETER)
    if found:
        click.echo(f"Already installed: {found}")
        return 0
    link = _place()
    try:
        if os.name == "nt":
            with link.open("x", encoding="ascii", newline="") as file:
                file.write(_BATCH)
        else:
            link.symlink_to(PROGRAM)
    except OSError as error:
        raise _failed("make", link, error) from error
    click.echo(f"Installed: {link}\n{_SHELL}")
    return 0


def _uninstall() -> int:
    link = _place()
    if not os.path.lexists(link):
        click.echo(f"Not installed: {link} does not exist")
        return 0
    if not _ours(link):
        raise UsageError(f"{link} is not a link that --install made", hint="it goes with what it was installed by")
    try:
        link.unlink()
    except OSError as error:
        raise _failed("remove", link, error) from error
    click.echo(f"Removed: {link}")
    return 0


def _place() -> Path:
    """Where the link is to be: beside the program that kubectl finds. Raises UsageError if it finds none."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise UsageError(f"{PROGRAM} is not on PATH, where kubectl looks for it")
    return Path(program).absolute().with_name(f"{COMPLETER}.cmd" if os.name == "nt" else COMPLETER)


def _ours(link: Path) -> bool:
    """Whether it is what ``_install`` makes, wherever that leads by now."""
    if os.name == "nt":
        return link.read_bytes() == _BATCH.encode()
    return link.is_symlink() and link.readlink() == Path(PROGRAM)


def _failed(verb: str, link: Path, error: OSError) -> UsageError:
    why = (error.strerror or str(error)).lower()
    return UsageError(f"cannot {verb} {link}: {why}", hint=f"ln -s {PROGRAM} {link}" if verb == "make" else "")


command = Command(
    "completion",
    run,
    text=f"""
        Let kubectl complete commands, flags and names behind "kubectl kres". kubectl asks a program of the name
        {COMPLETER}; pip, pipx and uv install it, krew does not. --install links that name to {PROGRAM}, beside it.

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
