"""What may stand at the cursor of a command line."""

from __future__ import annotations

from typing import NamedTuple

from kubectl_kres.cli.args.options import Options

#: What the shell is told beside the candidates. Source: spf13/cobra ShellCompDirective.
FILES, NO_SPACE, NO_FILES, FOLDERS = 0, 2, 4, 16


class Completion(NamedTuple):
    """A word, and what it does."""

    word: str
    about: str = ""


class CompletionContext(NamedTuple):
    """What may stand at the cursor.

    before, typed: what stays of the word, and how the part behind it begins. words: the candidates that need no
    reading. type: the type, as the user wrote it, whose objects are candidates, but for ``taken``. entries: the part of
    the kubeconfig whose entries are. options: the flags given before.
    """

    typed: str
    before: str = ""
    words: tuple[Completion, ...] = ()
    type: str = ""
    taken: frozenset[str] = frozenset()
    entries: str = ""
    directive: int = NO_FILES
    options: Options = Options()
