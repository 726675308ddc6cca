"""The table of a fleet: a row for each cluster, the worst first, then the sums and how many there are of each state."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kubectl_kres.fleet.status import STATES, ClusterStatus, FleetState
from kubectl_kres.render.text.line import Line, Tone, clip_text, draw, pad_text, size

_TONES: Mapping[FleetState, Tone] = {"answered": "", "partial": "warn", "stopped": "warn"}
#: Cells of a cluster's name, and the fewest of a message.
_NAME, _MESSAGE = 40, 24


def table(
    cluster_statuses: Sequence[ClusterStatus], total: Mapping[str, int | str], *, color: bool = False, width: int = 80
) -> Iterator[str]:
    """Yield every line. ``cluster_statuses``: the worst first; ``total``: the sums, if they are to be shown.

    Lines of clusters without an answer keep to ``width``; figures are never cut.
    """
    for line in _lines(cluster_statuses, total, width):
        yield draw(line, color=color)


def count_line(cluster_statuses: Sequence[ClusterStatus]) -> str:
    """``3 clusters: 1 unreachable, 2 answered``."""
    states = Counter(cluster_status.state for cluster_status in cluster_statuses)
    shown = ", ".join(f"{states[state]} {state}" for state in STATES if states[state])
    return f"{len(cluster_statuses)} cluster{'s' * (len(cluster_statuses) != 1)}{f': {shown}' if shown else ''}"


def message(cluster_status: ClusterStatus) -> str:
    """Return why there is no answer, in one sentence; empty where there is one."""
    if cluster_status.message:
        return " ".join(cluster_status.message.split())
    if cluster_status.state == "timed-out":
        return f"no answer within {cluster_status.seconds:g} s" if cluster_status.seconds else "no answer in time"
    if cluster_status.state == "stopped":
        return "the run was interrupted before its answer"
    if cluster_status.state != "lost" or cluster_status.ended is None:
        return ""
    return (
        f"its worker ended with {cluster_status.ended}"
        if cluster_status.ended >= 0
        else f"its worker was ended by {_signal(-cluster_status.ended)}"
    )


def same_cluster(name: str, also: Sequence[str], server: str) -> str:
    """Return the sentence that contexts are of one cluster."""
    others = ", ".join(also)
    verb = "are" if len(also) > 1 else "is"
    return f"{others} {verb} the same cluster as {name} ({server}): it is counted once"


def same_origin(names: Sequence[str], server: str) -> str:
    """Return the sentence that snapshots are of one cluster."""
    return f"{', '.join(names)} are snapshots of one cluster ({server}): each is counted"


def only_earlier(names: Sequence[str], where: str) -> str:
    """Return the sentence that clusters are there no more."""
    verb = "are" if len(names) > 1 else "is"
    return f"{', '.join(names)} {verb} only in {where}: not compared"


def progress(report: str, done: int, total: int, failed: int) -> str:
    """Return how far it is."""
    return f"{report}: {done} of {total} clusters{f', {failed} without an answer' if failed else ''}"


def interruption_text(done: int, total: int, *, kept: bool) -> str:
    """Return what is left of a run that was stopped."""
    rest = "; --resume goes on from here" if kept else ""
    return f"interrupted: {done} of {total} clusters are done{rest}"


def _lines(cluster_statuses: Sequence[ClusterStatus], total: Mapping[str, int | str], width: int) -> Iterator[Line]:
    heads = tuple(dict.fromkeys(name for cluster_status in cluster_statuses for name in cluster_status.figures))
    rows = [
        (_name(cluster_status, width), cluster_status.state, *_cells(cluster_status.figures, heads))
        for cluster_status in cluster_statuses
    ]
    sums = (
        (f"all {sum(cluster_status.has_answered for cluster_status in cluster_statuses)}", "", *_cells(total, heads))
        if total
        else None
    )
    shown = ("CLUSTER", "STATE", *(head.upper() for head in heads))
    right = {
        index
        for index, head in enumerate(heads, 2)
        if all(isinstance(cluster_status.figures.get(head, 0), int) for cluster_status in cluster_statuses)
    }
    # A message runs over the columns of figures, and widens none.
    sized = [
        shown,
        *(row for row, cluster_status in zip(rows, cluster_statuses, strict=True) if cluster_status.has_answered),
        *([sums] if sums else []),
    ]
    widths = [max(size(row[index]) for row in sized) for index in range(len(shown))]
    for index in (0, 1):
        widths[index] = max([widths[index], *(size(row[index]) for row in rows)])
    yield [("strong", _row(shown, widths, right))]
    for row, cluster_status in zip(rows, cluster_statuses, strict=True):
        tone = _TONES.get(cluster_status.state, "bad")
        if cluster_status.has_answered:
            name, state, *figures = row
            tail = _row(figures, widths[2:], {index - 2 for index in right})
            yield [("", f"{pad_text(name, widths[0])}  "), (tone, pad_text(state, widths[1])), ("", f"  {tail}")]
        else:
            text = clip_text(message(cluster_status), max(_MESSAGE, width - sum(widths[:2]) - 4))
            yield [
                ("", f"{pad_text(row[0], widths[0])}  "),
                (tone, pad_text(cluster_status.state, widths[1])),
                ("", f"  {text}"),
            ]
    if sums:
        yield [("strong", _row(sums, widths, right))]


def _name(cluster_status: ClusterStatus, width: int) -> str:
    return clip_text(cluster_status.cluster, max(_NAME, width // 2))


def _cells(figures: Mapping[str, int | str], heads: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(figures.get(head, "")) for head in heads)


def _row(cells: Sequence[str], widths: Sequence[int], right: set[int]) -> str:
    shown = [
        " " * (width - size(cell)) + cell if index in right else pad_text(cell, width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(shown)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
