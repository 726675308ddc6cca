"""``kubectl kres explain claim/x`` and ``pool/x``."""

from __future__ import annotations

from kubectl_kres.cli.answers import Turn
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.output import DOCUMENTS, Items, colored, named, put, speaks_unicode, width
from kubectl_kres.cli.tally import Tally
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.render import pooled as render
from kubectl_kres.reports.explain_pooled import explain_pooled, negative, unseen_in
from kubectl_kres.reports.pooled import ClaimExplanation, PoolExplanation
from kubectl_kres.reports.subject import Subject


def show(options: Options, items: Items, turn: Turn, subject: Subject, tally: Tally) -> None:
    """The explanation of one object, in the format asked for; one without an explanation is missed.

    Raises UsageError for flags that ask about pods.
    """
    for flag in ("container", "question"):
        if getattr(options, flag):
            name = "for" if flag == "question" else flag
            raise UsageError(f"--{name} asks about a pod, not about {subject.ref}")
    try:
        found = explain_pooled(turn.store, subject)
    except KresError as error:
        tally.missed(error)
        return
    if options.output in DOCUMENTS:
        items.add(found)
    elif options.output == "name":
        print(named(subject))
    elif turn.many and not options.steps:
        print(render.summary(found, color=colored(options.color)))
    else:
        _put(options, found)
        put([""] * turn.many)
    tally.answered(unseen_in(found), complete=True, negative=options.exit_code and negative(found))


def _put(options: Options, found: ClaimExplanation | PoolExplanation) -> None:
    color, columns = colored(options.color), width(wide=options.output == "wide")
    if isinstance(found, ClaimExplanation):
        put(render.claim_lines(found, steps=options.steps, color=color, width=columns))
    else:
        plain = not speaks_unicode()
        put(render.explain_pool_lines(found, steps=options.steps, ascii_only=plain, color=color, width=columns))
