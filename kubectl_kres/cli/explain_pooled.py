"""``kubectl kres explain claim/x`` and ``pool/x``."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_kres.cli import pooled
from kubectl_kres.cli.answers import Choose
from kubectl_kres.cli.exit import say
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.output import Items, colored, put, speaks_unicode, width
from kubectl_kres.cli.tally import Tally
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.kinds import find
from kubectl_kres.render import pooled as render
from kubectl_kres.reports.capsule.explain_pooled import Explaining, negative, unseen_in
from kubectl_kres.reports.capsule.pooled import ClaimExplanation, PoolExplanation
from kubectl_kres.reports.subject import Subject
from kubectl_kres.store.store import Store


def show(options: Options, items: Items, explaining: Explaining, subject: Subject, tally: Tally, *, many: bool) -> None:
    """The explanation of one object, in the format asked for; one without an explanation is missed.

    Raises UsageError for flags that ask about pods.
    """
    for flag in ("container", "question"):
        if getattr(options, flag):
            name = "for" if flag == "question" else flag
            raise UsageError(f"--{name} asks about a pod, not about {subject.ref}")
    try:
        found = explaining.explain(subject)
    except KresError as error:
        tally.missed(error)
        return
    if not items.take(subject, found):
        _put(options, found, many=many)
    tally.answered(unseen_in(found), complete=True, negative=options.exit_code and negative(found))


def _put(options: Options, found: ClaimExplanation | PoolExplanation, *, many: bool) -> None:
    color, columns = colored(options.color), width(wide=options.output == "wide")
    if many and not options.steps:
        print(render.summary(found, color=color))
        return
    if isinstance(found, ClaimExplanation):
        put(render.claim_lines(found, steps=options.steps, color=color, width=columns))
    else:
        plain = not speaks_unicode()
        put(render.explain_pool_lines(found, steps=options.steps, ascii_only=plain, color=color, width=columns))
    put([""] * many)


def listed(options: Options, words: Sequence[str]) -> Choose | None:
    """How all pools, or all claims, are found: together, since each explains the others; and pools by name, of which
    some may not be read. None: not asked for.
    """
    if options.filenames:
        return None
    if words and all(find(head) == pooled.POOL and name for head, _, name in (one.partition("/") for one in words)):
        return pooled.pools
    kind = find(words[0]) if len(words) == 1 and "/" not in words[0] else None
    if kind not in {pooled.POOL, pooled.CLAIM}:
        return None
    choose = pooled.pools if kind == pooled.POOL else pooled.claims
    return lambda source, given, options, _, program: choose(source, given, options, (), program)


def explaining_of(store: Store) -> Explaining:
    """For all objects of a store; what had to be supposed is told at once."""
    found = Explaining(store)
    for text in found.supposed:
        say(f"assumed: {text}")
    return found
