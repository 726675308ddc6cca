"""``kubectl kres fleet``: one report about many clusters, a row each."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import structs

from kubectl_kres.cli.args.options import ALLOW_PARTIAL, EXIT_CODE, FLEET, Options
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.fleet import COMPARED, REPORTS, answer_line, summed_by
from kubectl_kres.cli.output.documents import Items
from kubectl_kres.cli.output.exit_codes import SignalReceived, print_stderr
from kubectl_kres.cli.output.printer import DOCUMENTS, Progress, print_lines, wants_color, width
from kubectl_kres.cli.program import FLEET_WORKER
from kubectl_kres.cluster.kubeconfig import files
from kubectl_kres.errors import UsageError
from kubectl_kres.fleet.clusters import FleetCluster, read_contexts, shard, snapshots, with_earlier
from kubectl_kres.fleet.dask_engine import SCHEME, dask_available, on_dask
from kubectl_kres.fleet.results import Results
from kubectl_kres.fleet.rows import parquet_available
from kubectl_kres.fleet.status import ClusterStatus, exit_code, total, worst_first
from kubectl_kres.fleet.supervisor import run_tasks
from kubectl_kres.fleet.task import FleetTask
from kubectl_kres.render import fleet as render
from kubectl_kres.reports.common.unread import Frame
from kubectl_kres.store.store import Origin

#: Seconds for one cluster, and live clusters at a time.
_SECONDS, _LIVE = "2m", 16

_SHARD: Final = re.compile(r"(0|[1-9]\d{0,8})/([1-9]\d{0,8})")

_SCHEDULER: Final = re.compile(re.escape(SCHEME) + r"[^/@?#]+:\d{1,5}")

#: Flags that choose one server or user; each context has its own.
_ONE: Final = {
    "--context": "context",
    "--server": "server",
    "--cluster": "cluster",
    "--user": "user",
    "--token": "token",
    "--client-certificate": "client_certificate",
    "--client-key": "client_key",
    "--certificate-authority": "certificate_authority",
    "--insecure-skip-tls-verify": "insecure",
    "--tls-server-name": "tls_server_name",
}
#: Flags that every cluster is asked with.
_PASSED: Final = (
    *("kubeconfig", "namespaces", "request_timeout", "chunk_size", "allow_partial", "disable_compression"),
    *("impersonate", "impersonate_groups", "impersonate_uid", "impersonate_extra", "kuberc"),
)


def run(options: Options, words: tuple[str, ...]) -> int:
    """Prints the table or document; returns the exit code. Raises UsageError before any cluster is asked."""
    report, seconds = _report(options, words), _seconds(options)
    with ExitStack() as resources:
        return _run(options, report, seconds, _clusters(options, resources))


def _run(options: Options, report: str, seconds: float, given: GivenClusters) -> int:
    clusters = given.clusters
    if report == COMPARED:
        clusters, gone = with_earlier(clusters, [options.before])
        if gone:
            print_stderr(render.only_earlier(gone, options.before))
    results = _results(options, report)
    for cluster in clusters:
        if cluster.other_contexts:
            print_stderr(render.same_cluster(cluster.name, cluster.other_contexts, cluster.server))
    kept = {
        cluster.name: cluster_status
        for cluster in clusters
        if options.resume and (cluster_status := _find_stored_status(results, cluster))
    }
    unasked = {
        cluster.name: ClusterStatus(cluster.name, "failed", cluster.source, message=reason)
        for cluster in clusters
        if (reason := given.unreached.get(cluster.name) or _lacks_earlier(options, report, cluster))
    }
    cluster_statuses = {**kept, **unasked}
    left = [cluster for cluster in clusters if cluster.name not in cluster_statuses]
    stopped: BaseException | None = None
    working = _answers(options, report, left, results, seconds)
    try:
        _gather(working, {cluster.name: cluster for cluster in left}, cluster_statuses, results, report, len(clusters))
    except (KeyboardInterrupt, SignalReceived) as end:
        stopped = end
        working.close()
        print_stderr(render.interruption_text(len(cluster_statuses), len(clusters), kept=results is not None))
    rows = [
        cluster_statuses.get(cluster.name) or ClusterStatus(cluster.name, "stopped", cluster.source)
        for cluster in clusters
    ]
    _print_statuses(options, report, worst_first(rows))
    if stopped is not None:
        raise stopped
    return exit_code(rows, allow_partial=options.allow_partial, negative=options.exit_code)


def _lacks_earlier(options: Options, report: str, cluster: FleetCluster) -> str:
    """Return that there is nothing to compare a cluster with; empty: there is, or nothing is compared."""
    lacks = report == COMPARED and not cluster.earlier
    return f"there is no snapshot of it in {options.before}" if lacks else ""


def _report(options: Options, words: tuple[str, ...]) -> str:
    """The report that is asked for. Raises UsageError for words and flags that do not go together."""
    listed = ", ".join(REPORTS)
    if not words:
        raise UsageError(f"fleet takes one report of {listed}")
    if words[0] not in REPORTS:
        raise UsageError(f'there is no report "{words[0]}" about many clusters; there are {listed}')
    if len(words) > 1:
        raise UsageError(
            f"fleet takes one report, not {' '.join(words)}",
            hint="a pattern stands in quotes, so that the shell leaves it alone: --snapshots '*.kres'",
        )
    if bool(options.before) != (words[0] == COMPARED):
        raise UsageError(f"{COMPARED} is the report that goes with --from, and needs it")
    sources = [options.contexts, options.snapshots, options.cluster_profiles]
    if sum(map(bool, sources)) != 1:
        which = "exclude each other" if any(sources) else "one of them is needed"
        raise UsageError(f"--contexts, --snapshots and --clusterprofiles: {which}")
    if options.provider_file and not options.cluster_profiles:
        raise UsageError("--clusterprofile-provider-file goes with --clusterprofiles")
    for flag, field in _ONE.items():
        if getattr(options, field) and not (field == "context" and options.cluster_profiles):
            raise UsageError(f"{flag} names one server or user; fleet takes those of each context")
    if not options.out and (options.resume or options.output == "parquet"):
        raise UsageError(f"{'--resume' if options.resume else '-o parquet'} goes with --out DIR")
    _check_extras(options)
    return words[0]


def _check_extras(options: Options) -> None:
    """Raises UsageError for an engine that does not exist, and where an extra is not installed."""
    if options.output == "parquet":
        parquet_available()
    if options.engine != "local":
        if options.provider_file:
            raise UsageError("--clusterprofile-provider-file goes with the local engine: its kubeconfig is here alone")
        if not _SCHEDULER.fullmatch(options.engine):
            raise UsageError(
                f'invalid argument "{options.engine}" for "--engine" flag: local or dask://HOST:PORT is expected'
            )
        dask_available()


def _seconds(options: Options) -> float:
    from kubectl_kres.cluster.transport.duration import seconds

    return seconds(options.timeout or _SECONDS)


class GivenClusters(NamedTuple):
    """The clusters, and by name why no credentials lead to some, which are not asked."""

    clusters: tuple[FleetCluster, ...]
    unreached: Mapping[str, str] = {}


def _clusters(options: Options, resources: ExitStack) -> GivenClusters:
    given = _list_clusters(options, resources)
    if not options.shard:
        return given
    parts = _SHARD.fullmatch(options.shard)
    if parts is None or int(parts[1]) >= int(parts[2]):
        raise UsageError(
            f'invalid argument "{options.shard}" for "--shard" flag: I/N is expected, with I from 0 to N-1'
        )
    return given._replace(clusters=shard(given.clusters, int(parts[1]), int(parts[2])))


def _list_clusters(options: Options, resources: ExitStack) -> GivenClusters:
    if options.snapshots:
        return GivenClusters(snapshots(options.snapshots))
    if options.contexts:
        return GivenClusters(read_contexts(options.contexts, options.kubeconfig, os.environ))
    return _read_inventory(options, resources)


def _read_inventory(options: Options, resources: ExitStack) -> GivenClusters:
    """Ask the hub, and write a kubeconfig for what it names, which goes when the run ends. Raises ClusterError."""
    from kubectl_kres.cli.source.live import open_connection  # a quarter of a second
    from kubectl_kres.fleet import inventory

    providers = inventory.read_providers(options.provider_file) if options.provider_file else ()
    _, connection = open_connection(options)
    with connection:
        profiles = inventory.read_profiles(connection)
    folder = resources.enter_context(TemporaryDirectory(prefix="kres-fleet-"))
    path = Path(folder, "kubeconfig")
    config = files.read(files.paths(options.kubeconfig, os.environ))
    found = inventory.take_inventory(profiles, options.cluster_profiles, providers, config, str(path))
    path.touch(mode=0o600)
    path.write_bytes(msgspec.json.encode(found.kubeconfig))
    return GivenClusters((*found.clusters, *map(FleetCluster, found.unreached)), found.unreached)


def _results(options: Options, report: str) -> Results | None:
    """The folder for rows, which can be written to. Raises UsageError."""
    if not options.out:
        return None
    asked = repr([getattr(options, field) for field in _PASSED])
    results = Results(options.out, report, "parquet" if options.output == "parquet" else "jsonl", asked)
    results.prepare()
    return results


def _find_stored_status(results: Results | None, cluster: FleetCluster) -> ClusterStatus | None:
    return None if results is None else results.saved_status(cluster)


def _answers(
    options: Options, report: str, clusters: Sequence[FleetCluster], results: Results | None, seconds: float
) -> Generator[ClusterStatus]:
    """The statuses as they come, from whom the flags choose. Raises UsageError."""
    if results is not None:
        for cluster in clusters:
            results.clear(cluster)
    tasks = [_task(options, report, cluster, results, seconds) for cluster in clusters]
    width_ = options.workers or (_cpus() if options.snapshots else _LIVE)
    if options.engine == "local":
        yield from run_tasks(tasks, _command(), width=width_)
    else:
        yield from on_dask(tasks, options.engine.removeprefix(SCHEME), answer_line)


def _task(options: Options, report: str, cluster: FleetCluster, results: Results | None, seconds: float) -> FleetTask:
    values: dict[str, Any] = {field: getattr(options, field) for field in _PASSED}
    values.update(REPORTS[report].options, all_namespaces=not options.namespaces, output="json")
    values.update({} if results else REPORTS[report].counted)
    source = {"context": cluster.context} if cluster.context else {"snapshot": str(Path(cluster.snapshot).absolute())}
    values.update(source)
    if cluster.kubeconfig:
        values["kubeconfig"] = cluster.kubeconfig
    if cluster.earlier:
        values["before"] = str(Path(cluster.earlier).absolute())
    usual = Options._field_defaults
    return FleetTask(
        cluster.name,
        report,
        cluster.source,
        {field: value for field, value in values.items() if value != usual[field]},
        str(results.file(cluster)) if results else "",
        str(results.part(cluster)) if results else "",
        "parquet" if options.output == "parquet" else "jsonl",
        seconds,
    )


def _command() -> tuple[str, ...]:
    """Starts a worker of this very program; the archive's is the program alone."""
    program = (sys.executable,) if getattr(sys, "frozen", False) else (sys.executable, "-m", "kubectl_kres")
    return (*program, FLEET_WORKER)


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _gather(
    statuses: Generator[ClusterStatus],
    clusters: dict[str, FleetCluster],
    cluster_statuses: dict[str, ClusterStatus],
    results: Results | None,
    report: str,
    count: int,
) -> None:
    """Takes in what comes, and keeps it on disk. Raises UsageError, OSError."""
    progress, failed = Progress(), 0
    try:
        for status in statuses:
            whole = structs.replace(status, aliases=clusters[status.cluster].other_contexts)
            cluster_statuses[status.cluster] = whole
            if results is not None:
                results.save_status(clusters[status.cluster], whole)
            failed += not whole.has_answered
            progress.show(render.progress(report, len(cluster_statuses), count, failed))
    finally:
        progress.clear()


def _print_statuses(options: Options, report: str, cluster_statuses: Sequence[ClusterStatus]) -> None:
    if options.output in DOCUMENTS:
        with Items(options.output) as items:
            for cluster_status in cluster_statuses:
                items.add(cluster_status)
            origin = Origin("snapshots" if options.snapshots else "contexts")
            is_whole = all(cluster_status.state == "answered" for cluster_status in cluster_statuses)
            items.write("Fleet", origin, Frame(is_whole))
        return
    answered = [cluster_status for cluster_status in cluster_statuses if cluster_status.has_answered]
    sums = total(answered, summed_by(report)) if len(answered) > 1 else {}
    print_lines(
        render.table(
            cluster_statuses, sums, color=wants_color(options.color), width=width(wide=options.output == "wide")
        )
    )
    print_lines([render.count_line(cluster_statuses)])
    for cluster_status in answered:
        if cluster_status.state == "partial" or options.verbosity:
            for note in cluster_status.notes:
                print_stderr(f"{cluster_status.cluster}: {note}")
    _same_origin(options, answered)


def _same_origin(options: Options, cluster_statuses: Sequence[ClusterStatus]) -> None:
    """Several snapshots of one cluster may be meant, as of several namespaces; a warning names them, and none is
    refused.
    """
    servers: dict[str, list[str]] = {}
    for cluster_status in cluster_statuses if options.snapshots else ():
        servers.setdefault(cluster_status.server, []).append(cluster_status.cluster)
    for server, names in servers.items():
        if server and len(names) > 1:
            print_stderr(render.same_origin(names, server))


command = Command(
    "fleet",
    run,
    text=f"""
        Ask many clusters, or many snapshots, for the same report: one table with a row for each cluster, the worst
        first. Reports: {", ".join(REPORTS)}. Each covers all namespaces, or those named with -n.

        A cluster that cannot be reached, may not be read, takes too long or has a damaged snapshot is a row, too, and
        costs no other cluster its answer. With --out the rows of the report go to files, one a cluster: gzipped JSON
        lines, or Parquet with -o parquet. --resume goes on where a run was interrupted. diff compares each cluster
        with its snapshot of the same name in --from.

        It exits with 3 if no cluster has an answer, with 4 if one lacks an answer or a part of it, and with
        --exit-code with 1 where a quota is exceeded, a claim waits or a check finds an error.
        """,
    examples="""
        # Which clusters have full quotas? Of all contexts
        kubectl kres fleet quota --contexts '*'

        # Pods and requests of all clusters, from snapshots, as files for DuckDB
        kubectl kres fleet qos --snapshots snapshots/ --out report/

        # Go on after Ctrl-C
        kubectl kres fleet qos --snapshots snapshots/ --out report/ --resume

        # All clusters of the inventory that the hub keeps
        kubectl kres fleet overview --clusterprofiles '*' --context hub

        # What went wrong anywhere since yesterday?
        kubectl kres fleet diff --from yesterday/ --snapshots today/

        # The fourth of 20 parts, in a Kubernetes Indexed Job
        kubectl kres fleet claims --snapshots /snapshots --shard 3/20 --out /report
        """,
    usage="REPORT (--contexts GLOB | --snapshots DIR | ...)",
    flags=(*FLEET, EXIT_CODE, ALLOW_PARTIAL),
    formats=("table", "wide", "json", "yaml", "parquet"),
    completes=tuple(REPORTS),
)
