"""``simulate --kube-version`` alone: what another version of Kubernetes would answer otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import NEWEST, OLDEST, binary, nearest_version, parse, version_text
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.run_loop import ObjectAnswer, Page, Query, RunContext, RunSummary, answer, read_yaml
from kubectl_kres.cli.select.check_contexts import check_contexts
from kubectl_kres.cli.source.object_source import Input, ObjectSource, current_time
from kubectl_kres.errors import UsageError
from kubectl_kres.render import change_report as render
from kubectl_kres.reports.changes.upgrade import SpaceChanges, UpgradeReport, changes_in, report_of
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead


def run_upgrade(options: Options) -> int:
    """Print what differs, and returns the exit code. Raises UsageError for a version without rules."""
    asked = parse(options.kube_version)
    if asked is None or not OLDEST <= asked <= NEWEST:
        raise UsageError(
            f"--kube-version {options.kube_version}: "
            f"rules are known of Kubernetes {version_text(OLDEST)} to {version_text(NEWEST)}",
            hint="what a newer version changes is not known here",
        )
    return answer(options, Query(partial(UpgradePage, options), ()))


class UpgradePage(Page):
    """One report about all namespaces that are asked about."""

    kind = "Upgrade"

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Yield the report, once everything was looked at under both versions."""
        run_summary.listed = False
        new, assumptions = request_context.server_of(source.version())
        old, supposed = self._find_current_server(source.store.origin.version or source.version(), new)
        now = source.store.origin.time or current_time()
        options = EvaluationOptions(old, (), now, read_yaml, not self.options.no_seen)
        listed: list[SpaceChanges] = []
        lacking: dict[FailedRead, None] = {}
        for context in check_contexts(source, inputs, self.options, options):
            lacking.update(dict.fromkeys(context.unread))
            run_summary.add_answer((), complete=True, negative=False)
            if context.namespace:
                listed.append(changes_in(context.store, context.namespace, context.subjects, options, new))
        run_summary.leaves_out(inputs.left_out)
        run_summary.note_unread((), complete=not source.skipped)
        report = report_of(listed, old, new, (*supposed, *assumptions), tuple(lacking))
        run_summary.add_answer(report.unread, complete=report.complete, negative=self._negative(report))
        yield ObjectAnswer(None, report, partial(self._lines, report))

    def _lines(self, report: UpgradeReport) -> Iterable[str]:
        return render.upgrade_lines(report, color=self.color, width=self.width, wide=self.options.output == "wide")

    def _negative(self, report: UpgradeReport) -> bool:
        return self.options.exit_code and report.outcome == "worse"

    def _find_current_server(self, git_version: str, new: Server) -> tuple[Server, tuple[str, ...]]:
        """Return the server as it is, and what is supposed about it; of files it is one minor version older."""
        if parse(git_version) is None:
            before = max(OLDEST, (new.version[0], new.version[1] - 1))
            text = f"the objects are now on Kubernetes {version_text(before)}, the version before"
            return structs.replace(new, version=before), (text,)
        version, assumed = nearest_version(git_version)
        server = structs.replace(new, version=version, binary=binary(git_version))
        return server, (assumed,) if assumed else ()
