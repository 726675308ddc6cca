"""``kubectl kres explain --resize``: what a resize of a running pod would do."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.run_loop import AnswerBatch, ObjectAnswer, Page, Query, RunSummary
from kubectl_kres.cli.select.workloads import select_subjects
from kubectl_kres.documents import yaml_text
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.manifests import read as files
from kubectl_kres.render.pod import resize as render
from kubectl_kres.reports.pod.needs import needs_with_node
from kubectl_kres.reports.pod.verdict import is_negative
from kubectl_kres.reports.resize import Resize, resize

_INLINE = "--resize"


def _read_patch(argument: str) -> Any:
    """Return the value of the patch. ``@FILE`` names a file, ``-`` and ``@-`` standard input.

    Raises InputError for a file that cannot be read and for bad syntax, UsageError for anything but one document.
    """
    file = argument.removeprefix("@") if argument.startswith("@") else "-" if argument == "-" else ""
    if not file:
        shown, text = _INLINE, argument
    else:
        stdin = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
        shown, text = files.STDIN if file == "-" else file, files.read_text(file, stdin)
    documents = [*yaml_text.split(shown, text)]
    if len(documents) != 1:
        raise UsageError(f"--resize: one patch is expected, not {len(documents)} documents")
    return yaml_text.parse(documents[0])


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """Return the same patch for every pod that is named."""
    for flag, value in (("-c", options.container), ("--for", options.question), ("--steps", options.steps)):
        if value:
            raise UsageError(f"{flag} does not go with --resize")
    page = partial(ResizePage, options, _read_patch(options.resize))
    return Query(page, words, partial(select_subjects, find_reads=needs_with_node), needed=True)


class ResizePage(Page):
    """The answer to a resize, in full."""

    kind = "Resize"

    def __init__(self, options: Options, patch: Any) -> None:
        super().__init__(options)
        self._patch = patch

    def reports(self, batch: AnswerBatch, run_summary: RunSummary) -> Iterator[ObjectAnswer]:
        """A bad patch ends the run, since it is bad for every pod."""
        for subject in batch.selection.subjects:
            try:
                result = resize(batch.store, subject, self._patch, batch.options)
            except UsageError:
                raise
            except KresError as error:
                run_summary.add_error(error)
                continue
            yield ObjectAnswer(subject, result, partial(self._lines, result, many=batch.many))
            negative = self.options.exit_code and is_negative(result.verdict)
            run_summary.add_answer(result.unread, complete=result.complete, negative=negative)

    def _lines(self, resize: Resize, *, many: bool) -> list[str]:
        return [*render.lines(resize, color=self.color, width=self.width), *[""] * many]
