"""All pods that -n, -A and -l choose, page by page: of clusters that are too large to keep them."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.cli.args.options import Options
from kubectl_kres.cli.run.run_loop import Frame
from kubectl_kres.cli.run.run_result import Tally
from kubectl_kres.cli.select.workloads import readable
from kubectl_kres.cli.source.object_source import ObjectSource
from kubectl_kres.errors import Forbidden, UsageError
from kubectl_kres.model.pod import Pod
from kubectl_kres.store.coverage import Need


def pod_pages(
    frame: Frame, source: ObjectSource, options: Options, tally: Tally, *, instead: str
) -> Iterator[list[Pod]]:
    """One page after the other; a namespace of several that may not be read is missing in ``tally``.

    ``instead``: the complaint about a word that names another kind, without that. Raises UsageError, ClusterError.
    """
    tally.listed = False
    for word in frame.query.words:
        if source.kind(word).struct is not Pod:
            raise UsageError(f"{instead} {source.kind(word).qualified}")
    spaces = source.namespaces or ("",)
    for space in spaces:
        need = Need("Pod", space, label_selector=options.selector, field_selector=options.field_selector)
        for page in readable(source.pages(need), several=len(spaces) > 1):
            if isinstance(page, Forbidden):
                tally.missed(page)
            else:
                yield page
    tally.saw((), complete=not source.skipped)
