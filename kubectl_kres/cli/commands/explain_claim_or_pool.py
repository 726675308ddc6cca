"""``kubectl kres explain claim/x`` and ``pool/x``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.printer import speaks_unicode
from kubectl_kres.cli.run.run_loop import Answered, Choose, Page
from kubectl_kres.cli.run.run_result import Tally
from kubectl_kres.cli.select import pools
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.kinds import find
from kubectl_kres.render.capsule import claim_or_pool as render
from kubectl_kres.reports.capsule.common.unseen import is_whole
from kubectl_kres.reports.capsule.explain.claim_or_pool import ClaimExplanation, PoolExplanation
from kubectl_kres.reports.capsule.explain.explain_claim_or_pool import Explaining, negative, unseen_in
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.store.store import Store


def reports(page: Page, explaining: Explaining, subject: Subject, tally: Tally, *, many: bool) -> Iterator[Answered]:
    """The explanation of one object; one without an explanation is missed.

    Raises UsageError for flags that ask about pods.
    """
    for flag in ("container", "question"):
        if getattr(page.options, flag):
            name = "for" if flag == "question" else flag
            raise UsageError(f"--{name} asks about a pod, not about {subject.ref}")
    try:
        found = explaining.explain(subject)
    except KresError as error:
        tally.missed(error)
        return
    yield Answered(subject, found, partial(_lines, page, found, many=many))
    unseen = unseen_in(found)
    tally.answered(unseen, complete=is_whole(unseen), negative=page.options.exit_code and negative(found))


def _lines(page: Page, found: ClaimExplanation | PoolExplanation, *, many: bool) -> Iterator[str]:
    steps, color, columns = page.options.steps, page.color, page.width
    if many and not steps:
        yield render.summary(found, color=color)
        return
    if isinstance(found, ClaimExplanation):
        yield from render.claim_lines(found, steps=steps, color=color, width=columns)
    else:
        plain = not speaks_unicode()
        yield from render.explain_pool_lines(found, steps=steps, ascii_only=plain, color=color, width=columns)
    yield from [""] * many


def listed(options: Options, words: Sequence[str]) -> Choose | None:
    """How all pools, or all claims, are found: together, since each explains the others; and pools by name, of which
    some may not be read. None: not asked for.
    """
    if options.filenames:
        return None
    if words and all(find(head) == pools.POOL and name for head, _, name in (one.partition("/") for one in words)):
        return pools.pools
    kind = find(words[0]) if len(words) == 1 and "/" not in words[0] else None
    if kind not in {pools.POOL, pools.CLAIM}:
        return None
    choose = pools.pools if kind == pools.POOL else pools.claims
    return lambda source, given, options, _, program: choose(source, given, options, (), program)


def explaining_of(store: Store, tally: Tally) -> Explaining:
    """For all objects of a store; what is assumed is noted."""
    found = Explaining(store)
    for text in found.supposed:
        tally.note(f"assumed: {text}")
    return found
