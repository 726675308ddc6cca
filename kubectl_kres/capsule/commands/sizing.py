"""``kubectl kres claims --for TYPE/NAME``: what has to be claimed for a workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from kubectl_kres.capsule.reports.claim.sizing import sizing, sizing_needs
from kubectl_kres.capsule.reports.simulate.prediction import predicted
from kubectl_kres.capsule.text import sizing as render
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.args.repeat_flags import explaining, same_source
from kubectl_kres.cli.run.run_loop import Answered, AnswerTurn, Page, Query
from kubectl_kres.cli.run.run_result import Tally
from kubectl_kres.cli.select.workloads import Found, one_named
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.errors import UsageError
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.render.verdict.brief import about
from kubectl_kres.reports.common.subject import Subject


def plan(options: Options, words: tuple[str, ...]) -> Query:
    """One workload, of a file if it stands there."""
    flags = (options.pool, options.waiting, options.selector, options.field_selector, options.all_namespaces)
    if words or any(flags):
        raise UsageError("--for looks at one workload; it goes with no claim's name and no flag that chooses claims")
    return Query(partial(SizingPage, options), words, _choose)


def _choose(
    source: ObjectSource, given: Input, options: Options, words: Sequence[str], program: str
) -> Iterator[Found]:
    del words, program
    yield one_named(source, given, "--for", options.sized, sizing_needs)


class SizingPage(Page):
    """What has to be claimed, in full."""

    kind = "Sizing"

    def reports(self, turn: AnswerTurn, tally: Tally) -> Iterator[Answered]:
        """The one workload."""
        store = predicted(turn.store).store
        for subject, item in tally.each(turn.found.subjects, lambda subject: sizing(store, subject, turn.ask)):
            drawn: Callable[[], Iterable[str]] = partial(render.lines, item, color=self.color, width=self.width)
            if self.options.output == "brief":
                drawn = self.brief(render.brief(item, self._again(subject), self._ahead))
            yield Answered(subject, item, drawn)
            negative = self.options.exit_code and not all(pool.fits for pool in item.pools)
            tally.answered(item.unseen, complete=item.complete, negative=negative)

    def _again(self, subject: Subject) -> str:
        """The command that gives the whole answer."""
        return explaining(self.options, subject.ref, subject.file, command="claims --for")

    def _ahead(self, ref: ObjectRef) -> str:
        """The command that says why a claim waits."""
        return about("claims", ref, same_source(self.options), kind=False)
