"""``kubectl kres claims --for TYPE/NAME``: what has to be claimed for a workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kubectl_kres.cli.answers import Turn, answer
from kubectl_kres.cli.arguments import Asked
from kubectl_kres.cli.options import Options
from kubectl_kres.cli.output import DOCUMENTS, Items, colored, named, put, width
from kubectl_kres.cli.source import Input, Source
from kubectl_kres.cli.subjects import Found, complete, in_files, taken
from kubectl_kres.cli.subjects import named as found_by_name
from kubectl_kres.cli.tally import Tally
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.render import sizing as render
from kubectl_kres.reports.predicted import predicted
from kubectl_kres.reports.sizing import sizing, sizing_needs
from kubectl_kres.store.store import Origin


def run(options: Options, words: tuple[str, ...]) -> int:
    """One workload, of a file if it stands there."""
    flags = (options.pool, options.waiting, options.selector, options.field_selector, options.all_namespaces)
    if words or any(flags):
        raise UsageError("--for looks at one workload; it goes with no claim's name and no flag that chooses claims")
    with Items(options.output) as items:
        return answer(options, words, partial(_show, options, items), partial(_end, options, items), choose=_choose)


def _choose(source: Source, given: Input, options: Options, words: Sequence[str], program: str) -> Iterator[Found]:
    del words, program
    head, _, name = options.sized.partition("/")
    if not head or not name or "/" in name:
        raise UsageError(f'invalid argument "{options.sized}" for "--for" flag: TYPE/NAME is expected, as deploy/web')
    kind = taken(source.kind(head))
    subjects = [one for one in in_files(given) if (one.ref.kind, one.ref.name) == (kind.kind, name)]
    complete(source, subjects, sizing_needs)
    yield Found(tuple(subjects)) if subjects else found_by_name(source, [(kind, Asked(head, (name,)))], sizing_needs)


def _show(options: Options, items: Items, turn: Turn, tally: Tally) -> None:
    store = predicted(turn.store).store
    for subject in turn.found.subjects:
        try:
            found = sizing(store, subject, turn.ask)
        except KresError as error:
            tally.missed(error)
            continue
        if options.output in DOCUMENTS:
            items.add(found)
        elif options.output == "name":
            print(named(subject))
        else:
            put(render.lines(found, color=colored(options.color), width=width(wide=options.output == "wide")))
        negative = options.exit_code and not all(pool.fits for pool in found.pools)
        tally.answered(found.unseen, complete=found.complete, negative=negative)


def _end(options: Options, items: Items, origin: Origin, tally: Tally) -> None:
    if options.output in DOCUMENTS and not tally.barren:
        items.write("Sizing", origin, complete=tally.complete)
