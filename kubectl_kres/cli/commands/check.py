"""``kubectl kres check``: what is wrong, or about to be, on a cluster and in manifests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import structs

from kubectl_kres.cli import run_loop
from kubectl_kres.cli.args.flags import explain_command, same_source
from kubectl_kres.cli.args.options import (
    ALLOW_PARTIAL,
    CHECKABLE,
    CHECKED,
    EXIT_CODE,
    NO_SEEN,
    OUTPUT,
    SERVER,
    WHOLE_LIST,
    Options,
)
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.garbage import gc_disabled
from kubectl_kres.cli.select.check_contexts import check_contexts
from kubectl_kres.cli.source.object_source import Input, ObjectSource, current_time
from kubectl_kres.errors import InputError, UsageError, on_one_line
from kubectl_kres.manifests.manifest import Manifest
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render import check as render
from kubectl_kres.render.text import data
from kubectl_kres.reports.check.check import UNREAD, check, mark_known, select_codes, worst_first
from kubectl_kres.reports.check.context import RemedyBudget
from kubectl_kres.reports.check.finding import SEVERITIES, CheckFinding
from kubectl_kres.reports.common.explanation import EvaluationOptions
from kubectl_kres.reports.common.shown import WORST
from kubectl_kres.reports.common.system import answers_about

_KIND = "Check"
#: So many findings are listed; the others are counted.
MOST = 10_000
_NEVER = "never"


def run(options: Options, words: tuple[str, ...]) -> int:
    """All findings of a cluster or of files."""
    with gc_disabled():
        return run_loop.build_runner(plan)(options, words)


def plan(options: Options, words: tuple[str, ...]) -> run_loop.Query:
    """Raises UsageError for words and for codes that no rule has, InputError for a baseline that cannot be read."""
    if words:
        raise UsageError(
            f"check looks at all of a namespace, or of files; it takes no names, not {on_one_line(words[0])}",
            hint="kubectl kres explain TYPE/NAME answers about one object",
        )
    codes = select_codes(options.select, options.ignore, ("--select", "--ignore"))
    baseline = _baseline(options.baseline) if options.baseline else frozenset()
    return run_loop.Query(partial(CheckPage, options, codes, baseline), words)


def _baseline(path: str) -> frozenset[tuple[str, str, str]]:
    """Return the keys of known findings, from a document that ``-o json`` printed."""
    try:
        document = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise InputError((error.strerror or str(error)).lower(), file=path) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"no JSON: {error}", file=path, hint=_WRITTEN) from error
    version = document.get("apiVersion") if isinstance(document, dict) else None
    if version != data.API_VERSION or document.get("kind") != _KIND:
        text = f"{document.get('kind')} of {version}" if version else "something else"
        message = f"this baseline is {on_one_line(text)}, and {_KIND} of {data.API_VERSION} is expected"
        raise InputError(message, file=path, hint=_WRITTEN)
    try:
        items = msgspec.convert(document.get("items"), tuple[CheckFinding, ...])
    except msgspec.ValidationError as error:
        raise InputError(str(error), file=path, hint=_WRITTEN) from error
    return frozenset(item.key for item in items if not item.ignored)


_WRITTEN = "kubectl kres check -o json > FILE writes a baseline"


class _Totals(NamedTuple):
    """What the findings were looked for in, how many more there are than are listed, and whether all could be read.

    ``unchanged``: it is files, and the cluster has all of it as it stands there.
    """

    looked_at: str
    unlisted: int
    complete: bool
    unchanged: bool = False


class CheckPage(run_loop.Page):
    """All findings, the worst first."""

    kind = _KIND

    def __init__(self, options: Options, codes: Collection[str], baseline: Collection[tuple[str, str, str]]) -> None:
        super().__init__(options)
        self._codes, self._baseline = codes, baseline

    def run(
        self,
        request_context: run_loop.RunContext,
        source: ObjectSource,
        inputs: Input,
        run_summary: run_loop.RunSummary,
    ) -> Iterator[run_loop.ObjectAnswer]:
        """The findings, once everything was looked at."""
        run_summary.listed = False
        server, assumptions = request_context.server_of(source.version())
        now = source.store.origin.time or current_time()
        options = EvaluationOptions(
            server, (*source.assumptions, *assumptions), now, run_loop.read_yaml, not self.options.no_seen
        )
        located = _Located(inputs, self.options)
        kept: dict[str, list[CheckFinding]] = {name: [] for name in SEVERITIES}
        spaces = objects = unlisted = 0
        unchanged = False
        budget = RemedyBudget(shown=self._shown_remedies())
        for context in check_contexts(source, inputs, self.options, options, budget):
            spaces, objects = spaces + bool(context.namespace), objects + len(context.subjects)
            unchanged = unchanged or (context.combined is not None and context.combined.unchanged)
            for check_finding in mark_known(check(context, self._codes), self._baseline):
                if check_finding.severity == SEVERITIES[0] and check_finding.counts:
                    budget.add_error(check_finding.code, check_finding.object)
                if len(kept[check_finding.severity]) < MOST:
                    kept[check_finding.severity].append(located(check_finding))
                else:
                    unlisted += 1
            untold = () if UNREAD in self._codes else context.unread
            run_summary.note_optional(
                [failed_read for failed_read in untold if failed_read.state == "failed" and not failed_read.required]
            )
            run_summary.add_answer(
                untold, complete=not any(failed_read.required for failed_read in context.unread), negative=False
            )
        run_summary.leaves_out(inputs.left_out)
        run_summary.note_unread((), complete=not source.skipped)
        complete = run_summary.complete
        looked_at = f"{_format_count(objects, 'workload')} of {_format_count(spaces, 'namespace')}"
        check_findings = worst_first(check_finding for name in SEVERITIES for check_finding in kept[name])
        unlisted += len(check_findings[MOST:])
        failing = SEVERITIES[: SEVERITIES.index(self.options.fail_on) + 1] if self.options.fail_on != _NEVER else ()
        if any(check_finding.counts and check_finding.severity in failing for check_finding in check_findings):
            run_summary.add_answer((), complete=True, negative=True)
        if unlisted and self.options.output not in {"text", "brief"}:
            run_summary.note(f"{unlisted} more findings are not listed")
        yield from (
            run_loop.ObjectAnswer(None, check_finding, note=check_finding) for check_finding in check_findings[:MOST]
        )
        yield run_loop.ObjectAnswer(None, None, note=_Totals(looked_at, unlisted, complete, unchanged))

    def _shown_remedies(self) -> int | None:
        """Return of how many findings the remedies are shown; None: of all."""
        options = self.options
        if options.summary:
            return 0
        return WORST if options.output == "text" and not (options.whole or options.filenames) else None

    def closing_lines(self, notes: Sequence[CheckFinding | _Totals], run_summary: run_loop.RunSummary) -> Iterable[str]:
        """Text, or one SARIF document, of all findings."""
        del run_summary
        check_findings = [note for note in notes if isinstance(note, CheckFinding)]
        for totals in notes:
            if not isinstance(totals, _Totals):
                continue
            if self.options.output == "sarif":
                return data.to_json(render.document(check_findings, complete=totals.complete)).split("\n")
            if self.options.output == "brief":
                return self._briefly(check_findings, totals)
            return render.lines(
                check_findings,
                totals.looked_at,
                totals.unlisted,
                unchanged=totals.unchanged,
                whole=self.options.whole or self.options.output == "wide",
                of_files=bool(self.options.filenames),
                color=self.color,
                width=self.width,
            )
        return ()

    def _briefly(self, check_findings: Sequence[CheckFinding], totals: _Totals) -> Iterator[str]:
        """Yield the worst findings in at most five lines each, and how many there are."""
        for check_finding in check_findings:
            if check_finding.counts:
                yield from self.brief(render.brief(check_finding))()
                yield ""
        yield render.count_line(check_findings, totals.looked_at, totals.unlisted, unchanged=totals.unchanged)


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


class _Located:
    """Adds to findings the file and line of their object, and to their commands the flags of the source."""

    def __init__(self, inputs: Input, options: Options) -> None:
        flags = same_source(options)
        self._flags, self._options = f" {flags}" if flags else "", options
        self._manifests: dict[ObjectRef, Manifest] = {}
        for manifest in inputs.manifests:
            ref, known_kind = manifest.ref, BY_KIND.get(manifest.kind)
            spaced = known_kind is None or known_kind.namespaced
            space = (manifest.namespace or inputs.namespace) if spaced else ""
            self._manifests[ObjectRef(ref.kind, ref.name, space)] = manifest

    def __call__(self, check_finding: CheckFinding) -> CheckFinding:
        manifest = self._manifests.get(check_finding.object)
        if manifest is None:
            commands = tuple(
                f"{command}{self._flags}" if command.startswith("kubectl kres") else command
                for command in check_finding.commands
            )
            return structs.replace(check_finding, commands=commands)
        line, column = manifest.position_of(check_finding.field)
        # Of a kind without an answer of its own, as an autoscaler, the file alone may hold nothing to explain.
        kind = BY_KIND.get(check_finding.object.kind)
        explained = kind is None or answers_about(kind).explained
        ref = check_finding.object
        commands = (explain_command(self._options, ref),) if explained and "-" not in self._options.filenames else ()
        return structs.replace(check_finding, file=manifest.file, line=line, column=column, commands=commands)


command = Command(
    "check",
    run,
    text="""
        Find what is wrong, or soon will be: pods that are refused, or would be when they are replaced; LimitRanges,
        quotas and pools that contradict each other; claims that wait forever; pod templates that do not do what they
        seem to. Each finding has a code, the object, the figures and the fix. Of a cluster or snapshot the five
        worst are listed, or all with --all; of files all are.

        With -f the objects of the files are checked as the cluster, or a snapshot of it, would take them. It exits with
        1 at a finding as bad as --fail-on says, with or without --exit-code.
        """,
    examples="""
        # Everything in this namespace; everything in the cluster
        kubectl kres check
        kubectl kres check -A

        # In CI, against the policies of production, without access to it
        helm template . | kubectl kres check -f - --snapshot prod.kres

        # For a code host that shows findings beside the lines
        kubectl kres check -f deploy/ --snapshot prod.kres -o sarif > kres.sarif

        # Start clean on an existing cluster: ignore known findings
        kubectl kres check -A -o json > known.json
        kubectl kres check -A --baseline known.json

        # On the bundled example
        kubectl kres check --demo
        """,
    flags=(*CHECKED, *CHECKABLE, NO_SEEN, WHOLE_LIST, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, *SERVER),
    formats=("text", "wide", "brief", "json", "yaml", "sarif"),
)
