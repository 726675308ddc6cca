"""``kubectl kres quota``: what quotas limit, what is used, by whom, what still fits, and who is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from kubectl_kres.cli.answers import Turn, answer
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.options import (
    ALLOW_PARTIAL,
    ASCII,
    BY,
    DENIED,
    EXIT_CODE,
    FIT,
    INPUT,
    OUTPUT,
    RECOUNT,
    SERVER,
    WATCHING,
    Options,
)
from kubectl_kres.cli.output import Items, colored, put, speaks_unicode, width
from kubectl_kres.cli.quotas import fitted, quotas, workloads
from kubectl_kres.cli.tally import Tally
from kubectl_kres.cli.watching import repeated
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.render import describe
from kubectl_kres.render import fit as render_fit
from kubectl_kres.render import quota as render
from kubectl_kres.reports.capsule.shared_quotas import shared_reports
from kubectl_kres.reports.denied import Denied, denied
from kubectl_kres.reports.describe import quota_block
from kubectl_kres.reports.fit import Fit, fit
from kubectl_kres.reports.quota import QuotaReport, quota_reports
from kubectl_kres.reports.subject import Subject
from kubectl_kres.store.store import Origin


@repeated
def run(options: Options, words: tuple[str, ...]) -> int:
    """Quotas, or with ``--fit`` and ``--denied`` another answer each."""
    _refuse(options)
    with Items(options.output) as items:
        page = Page(options, items)
        if options.fit:
            return answer(options, words, page.fits, partial(page.end, "Fit"), choose=fitted)
        if options.denied:
            return answer(options, words, page.refused, partial(page.end, "Denied"), choose=workloads)
        return answer(options, words, page.quotas, partial(page.end, "Quota"), choose=quotas)


def _refuse(options: Options) -> None:
    """Raises UsageError for flags that exclude each other."""
    flags = {"--fit": options.fit, "--denied": options.denied, "--recount": options.recount, "--by": options.by}
    given = [flag for flag, value in flags.items() if value]
    if len(given) > 1 and given != ["--recount", "--by"]:
        raise UsageError(f"{' and '.join(given)} exclude each other")
    if (options.fit and options.selector) or ((options.fit or options.denied) and options.field_selector):
        raise UsageError(f"selectors do not go with {given[0]}")
    if options.output == "describe" and given:
        raise UsageError(f"-o describe does not go with {given[0]}")


class Page:
    """Shows answers as they are made, in the format asked for."""

    def __init__(self, options: Options, items: Items) -> None:
        self._options, self._items = options, items
        self._width = width(wide=options.output == "wide")
        self._color = colored(options.color)
        self._plain = options.ascii or not speaks_unicode()
        self._shown = self._refused = 0

    def quotas(self, turn: Turn, tally: Tally) -> None:
        """Quotas of one namespace after the other."""
        if turn.found.shared is not None:
            self._beside(turn, tally)
            return
        spaces: dict[str, list[Subject]] = {}
        for subject in turn.found.subjects:
            spaces.setdefault(subject.ref.namespace, []).append(subject)
        for subjects in spaces.values():
            held = [quota for subject in subjects if (quota := turn.store.get(*_key(subject))) is not None]
            recounted, by = self._options.recount, self._options.by
            try:
                reports = quota_reports(turn.store, held, turn.ask, recounted=recounted, by=by)
                for subject, quota, report in zip(subjects, held, reports, strict=True):
                    self._put(report, subject, partial(self._quota, quota))
                    bad = any(use.over or use.drift is not None for use in report.uses)
                    self._count(tally, report, negative=bad)
            except KresError as error:
                tally.missed(error)

    def _beside(self, turn: Turn, tally: Tally) -> None:
        """Capsule's quotas of a namespace, or of all, which kubectl describe knows nothing of."""
        if self._options.output == "describe":
            return
        reports = shared_reports(turn.store, turn.found.shared or "")
        for subject, report in zip(turn.found.subjects, reports, strict=True):
            self._put(report, subject, partial(self._quota, None))
            self._count(tally, report, negative=any(use.over for use in report.uses))

    def _quota(self, quota: ResourceQuota | None, report: QuotaReport) -> None:
        put([""] * (self._shown > 0))
        if self._options.output == "describe" and quota is not None:
            put([""] * (self._shown > 0))
            put(describe.quota_lines([quota_block(quota)]))
        else:
            put(render.lines(report, ascii_only=self._plain, color=self._color, width=self._width))

    def fits(self, turn: Turn, tally: Tally) -> None:
        """How often a template fits."""
        for subject, found in tally.each(turn.found.subjects, lambda subject: fit(turn.store, subject, turn.ask)):
            self._put(found, subject, self._fit)
            tally.meets("fits", found.enough)
            self._count(tally, found, negative=not found.enough)

    def _fit(self, found: Fit) -> None:
        put([""] * (self._shown > 0))
        put(render_fit.lines(found, color=self._color, width=self._width))

    def refused(self, turn: Turn, tally: Tally) -> None:
        """The workloads that are refused; those that are not are only counted."""
        for subject, found in tally.each(turn.found.subjects, lambda subject: denied(turn.store, subject, turn.ask)):
            if found is None:
                tally.answered((), complete=True, negative=False)
                continue
            self._refused += 1
            self._put(found, subject, self._denied)
            self._count(tally, found, negative=True)

    def _denied(self, found: Denied) -> None:
        put(render_fit.denied_lines(found, color=self._color, width=self._width))

    def _put(self, found: Any, subject: Subject, show: Callable[[Any], None]) -> None:
        if not self._items.take(subject, found):
            show(found)
        self._shown += 1

    def _count(self, tally: Tally, found: QuotaReport | Fit | Denied, *, negative: bool) -> None:
        tally.answered(found.unseen, complete=found.complete, negative=negative and self._options.exit_code)

    def end(self, kind: str, origin: Origin, tally: Tally) -> None:
        """The document, or how many are refused."""
        if tally.document(self._items, kind, origin):
            return
        if kind == "Denied" and tally.count and self._options.output != "name":
            print(render_fit.denied_count(self._refused, tally.count))


def _key(subject: Subject) -> tuple[str, str, str]:
    return subject.ref.kind, subject.ref.name, subject.ref.namespace


command = Command(
    "quota",
    run,
    text="""
        Show what the quotas of a namespace limit, in which scopes, what is used and what is left. Only quotas are
        read; objects only where they are counted.

        A status that is not what a recount finds is named with its cause. What fits, and who is refused, is computed
        with the server's own admission rules.
        """,
    examples="""
        # The quotas of a namespace
        kubectl kres quota -n shop

        # Is the status of this quota right, and who uses it?
        kubectl kres quota team --recount --by workload

        # How many more pods of this deployment fit, and a rolling update?
        kubectl kres quota --fit deploy/web

        # Which workloads are being refused, and what would free them?
        kubectl kres quota --denied -A

        # What kubectl describe shows
        kubectl kres quota team -o describe

        # On the bundled example, without a cluster
        kubectl kres quota --demo
        """,
    usage="[NAME...]",
    flags=(RECOUNT, BY, FIT, DENIED, ASCII, *INPUT, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, *WATCHING, *SERVER),
    formats=("text", "wide", "json", "yaml", "name", "describe"),
    completes="resourcequotas",
)
