"""``kubectl kres diff --from``: what came to be refused, to wait, to fail, to be full or over since a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kubectl_kres.cli.args.flags import same_source
from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.output.printer import DOCUMENTS
from kubectl_kres.cli.run_loop import ObjectAnswer, Page, Query, RunContext, RunSummary
from kubectl_kres.cli.source.object_source import Input, ObjectSource
from kubectl_kres.cli.source.open_source import open_source
from kubectl_kres.cli.variants.overviews import overview_options, read_overview
from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render import overview_changes as render
from kubectl_kres.reports.overview_changes import Exists, compare_overviews
from kubectl_kres.snapshot.read import header
from kubectl_kres.store.store import Origin, ReadRequest, Store


def plan_moments(options: Options, words: tuple[str, ...]) -> Query:
    """Raises UsageError for flags that say nothing about two moments."""
    if words or options.filenames or options.selector or options.field_selector:
        raise UsageError(
            "--from compares all that there is at two moments: no names, files or selectors go with it",
            hint="-n NAMESPACE and -A say of what; simulate --from compares what each template gets",
        )
    if options.offline:
        raise UsageError("--from and --offline exclude each other: files are no moment of a cluster")
    if options.output not in {"text", *DOCUMENTS}:
        raise UsageError(f"-o {options.output} does not go with --from")
    return Query(partial(MomentsPage, options), words)


class MomentsPage(Page):
    """The changes of each namespace that is asked about, or of all together."""

    kind = "Changes"

    def run(
        self, request_context: RunContext, source: ObjectSource, inputs: Input, run_summary: RunSummary
    ) -> Iterator[ObjectAnswer]:
        """Read both moments in the same way; nothing is looked for that mends a problem."""
        del inputs
        options, run_summary.listed = self.options, False
        earlier_options = options._replace(snapshot=options.before, demo=False, before="")
        with open_source(earlier_options) as (earlier, _):
            _note_odd_pair(earlier.store.origin, source.store.origin, run_summary)
            old_options, new_options = (overview_options(request_context, side) for side in (earlier, source))
            for space in source.namespaces or ("",):
                before, after = (
                    read_overview(side, space, side_options, run_summary, mended=0, listed=None)
                    for side, side_options in ((earlier, old_options), (source, new_options))
                )
                result = compare_overviews(
                    before, after, old_options.now, new_options.now, _exists(earlier.store), _exists(source.store)
                )
                draw = partial(render.lines, result, color=self.color, width=self.width, flags=same_source(options))
                yield ObjectAnswer(None, result, draw)
                run_summary.add_answer(
                    result.unread, complete=result.complete, negative=options.exit_code and result.got_worse
                )
            run_summary.note_unread((), complete=not (source.skipped or earlier.skipped))


def _exists(store: Store) -> Exists:
    def exists(ref: ObjectRef) -> bool | None:
        if store.get(ref.kind, ref.name, ref.namespace) is not None:
            return True
        # Of pods that were read page by page none stays.
        known = ref.kind != "Pod" and store.covered(ReadRequest(ref.kind, ref.namespace)).is_known
        return False if known else None

    return exists


def _note_odd_pair(before: Origin, after: Origin, run_summary: RunSummary) -> None:
    """Warn of moments of two clusters, and of moments the wrong way round."""
    servers = [header(origin.name).origin if origin.kind == "snapshot" else origin.name for origin in (before, after)]
    # Of snapshots made from files there is no server to compare.
    if all("://" in server for server in servers) and servers[0] != servers[1]:
        run_summary.note(f"Warning: the moments are of two clusters: {servers[0]} and {servers[1]}")
    if before.time and after.time and before.time > after.time:
        run_summary.note("Warning: --from is the later moment: what it calls new is what is gone")
