"""``kubectl kres explain pipelinerun/x`` and ``pipeline/x``."""

from __future__ import annotations

from kubectl_kres.cli.answers import Turn
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.output import Items, colored, put, width
from kubectl_kres.cli.tally import Tally
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.render import pipeline as render
from kubectl_kres.reports.explanation import Verdict
from kubectl_kres.reports.question import of_task
from kubectl_kres.reports.subject import Subject
from kubectl_kres.reports.tekton.explain_pipeline import explain_pipeline
from kubectl_kres.reports.tekton.pipeline import PipelineExplanation
from kubectl_kres.reports.verdict import is_negative


def show(options: Options, items: Items, turn: Turn, subject: Subject, tally: Tally) -> Verdict | None:
    """The explanation of one object, in the format asked for; one without an explanation is missed.

    Returned is the verdict of one that got a line, to be counted with the others.

    Raises UsageError for a question about one value.
    """
    if options.question:
        raise UsageError(f"--for asks about a pod, not about {subject.ref}", hint="-c TASK shows one task in full")
    try:
        found = explain_pipeline(turn.store, subject, turn.ask)
        shown = of_task(found, options.container) if options.container else found
    except KresError as error:
        tally.missed(error)
        return None
    listed = not items.take(subject, shown) and _put(options, found, many=turn.many)
    refused = is_negative(found.verdict)
    tally.meets("admitted", not refused, complete=found.complete)
    tally.answered(found.unseen, complete=found.complete, negative=options.exit_code and refused)
    return found.verdict if listed else None


def _put(options: Options, found: PipelineExplanation, *, many: bool) -> bool:
    """Whether that took one line."""
    color = colored(options.color)
    if many and not (options.steps or options.container):
        print(render.summary(found, color=color))
        return True
    columns = width(wide=options.output == "wide")
    put(render.lines(found, steps=options.steps, task=options.container, color=color, width=columns))
    put([""] * many)
    return False
