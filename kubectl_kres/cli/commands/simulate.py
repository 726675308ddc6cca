"""``kubectl kres simulate``: what becomes of a change, and which workloads lose by it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import click
from msgspec import structs

from kubectl_kres.cli.args.flags import explain_command
from kubectl_kres.cli.args.options import (
    ALL_NAMESPACES,
    ALLOW_PARTIAL,
    EXIT_CODE,
    FILES,
    NO_SEEN,
    OUTPUT,
    SERVER,
    SIMULATED,
    Options,
)
from kubectl_kres.cli.args.target_version import server_from_flags
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.garbage import gc_disabled
from kubectl_kres.cli.output.documents import Items
from kubectl_kres.cli.output.exit_codes import print_stderr
from kubectl_kres.cli.output.printer import DOCUMENTS, print_lines, wants_color, width
from kubectl_kres.cli.run_loop import RunSummary, frame_of
from kubectl_kres.cli.simulation import assign_namespaces, given_steps, with_kinds
from kubectl_kres.cli.source.object_source import ObjectSource, current_time
from kubectl_kres.cli.source.open_source import open_source
from kubectl_kres.documents import yaml_text
from kubectl_kres.errors import UsageError
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Wording
from kubectl_kres.render import change_report as render
from kubectl_kres.render.verdict import brief
from kubectl_kres.reports.changes.compare import ChangeWithPods, Rollouts, compare_sides, report_of
from kubectl_kres.reports.changes.given_steps import (
    GivenStep,
    cluster_needs,
    ignored_enforcement,
    namespace_needs,
    plugin_needs,
    policies_of,
    remarks,
    split_followed_steps,
)
from kubectl_kres.reports.changes.report import ChangeReport
from kubectl_kres.reports.changes.system import NextPods, next_pod_makers, system_remarks, unread_by_systems
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, find_unread
from kubectl_kres.reports.rollout.injected_containers import find_added
from kubectl_kres.simulate.change import PlacedStep, key_of_step
from kubectl_kres.simulate.cluster import ClusterChange, current_final_states
from kubectl_kres.simulate.live import IN_NAMESPACE, OF_CLUSTER, lean_converters
from kubectl_kres.simulate.plugins import parameters_of
from kubectl_kres.simulate.system import cluster_kinds
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store, fill_all

_AUTOSCALER = "HorizontalPodAutoscaler"
#: The flags that are steps.
_STEPS = ("filenames", "delete", "scale", "sets", "release", "evict")


def run(options: Options, words: tuple[str, ...]) -> int:
    """Print what differs after the steps; with ``--from`` what differs between two snapshots. Return the exit code."""
    if words:
        raise UsageError(f'simulate takes no arguments, only flags: "{words[0]}"')
    if _is_upgrade(options):
        from kubectl_kres.cli.variants.upgrade import run_upgrade

        return run_upgrade(options)
    with Items(options.output) as items:
        run_summary = RunSummary(options, print_stderr)
        if options.before or options.after:
            return _compare_snapshots(options, items, run_summary)
        return _change(options, items, run_summary)


def _is_upgrade(options: Options) -> bool:
    """Return whether a version is the change, since no step is; without a cluster the files are its objects."""
    steps = {item.field for item in click.get_current_context().obj or ()} & {*_STEPS, "rollouts"}
    moments = options.before or options.after
    return bool(options.kube_version) and not moments and (not steps or (options.offline and steps == {"filenames"}))


def _ordered_flags(fields: Sequence[str] = _STEPS) -> list[tuple[str, str]]:
    given_steps = click.get_current_context().obj or ()
    return [(item.field, str(item.value)) for item in given_steps if item.field in fields]


def _change(options: Options, items: Items, run_summary: RunSummary) -> int:
    flags = _ordered_flags()
    if not flags and not (options.rollouts and _ordered_flags(("rollouts",))):
        raise UsageError(
            "simulate needs a change",
            hint="give -f FILE, --delete, --scale, --set, --release, --evict, --rollouts or --kube-version, "
            "or --from and --to",
        )
    if options.offline and not options.filenames:
        raise UsageError("--offline needs the files to read, given with -f")
    server_of = server_from_flags(options)
    stdin = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
    with gc_disabled(), _source(options) as source:
        wanted = given_steps(options, flags, source.kind, stdin)
        store, spaces, default = _read(options, source, wanted)
        server, assumptions = server_of(source.version())
        evaluation_options = EvaluationOptions(
            server, assumptions, store.origin.time or current_time(), yaml_text.value, not options.no_seen
        )
        wanted = with_kinds(wanted, source)
        texts: tuple[Wording, ...] = (
            *remarks(wanted),
            *system_remarks(wanted, store, default),
            *ignored_enforcement(store, spaces),
        )
        wanted, left = split_followed_steps(wanted, store, default, source.serves_kind)
        steps = list(assign_namespaces(wanted, store, spaces, default, everywhere=options.all_namespaces))
        looked = (
            spaces
            if options.all_namespaces or not flags or _is_wide(wanted, store)
            else _list_step_namespaces(steps, default)
        )
        seen = not options.no_seen
        added = find_added(store) if seen else None
        course = ClusterChange(
            store, steps, evaluation_options.server, looked, emptied=True, seen=seen, find_added=added
        )
        change = report_of(course, _rollouts(options, flags))
        change_report = _with_nodes(source, change, steps, evaluation_options)
        for maker in _concerned_makers(wanted):
            wide = options.all_namespaces or _configures(wanted)
            made_in = spaces if wide else _list_step_namespaces(steps, default)
            change_report = _with_next_pods(source, maker, change_report, steps, made_in, evaluation_options)
        change_report = _add_notes(change_report, store, spaces, (*assumptions, *texts), left)
        return _print_report(options, items, run_summary, source, change_report, store.origin)


@contextmanager
def _source(options: Options) -> Iterator[ObjectSource]:
    """Open the source without the files, which are steps here."""
    if options.offline:
        from kubectl_kres.cli.source.offline import OfflineSource

        yield OfflineSource(options, Store(Origin("files", ", ".join(options.filenames))))
        return
    with open_source(options._replace(filenames=(), recursive=False), lean=lean_converters()) as (source, _):
        yield source


def _rollouts(options: Options, steps: Sequence[object]) -> Rollouts:
    """Return the rollouts to simulate; without steps they are the change."""
    return Rollouts(options.rollouts if steps else 0, options.rollouts)


def _concerned_makers(steps: Sequence[GivenStep]) -> list[NextPods]:
    """Return the systems of whose next pods a step may decide."""
    keys = [key_of_step(item.step) for item in steps]
    return [maker for maker in next_pod_makers() if any(maker.decides(kind, name) for kind, name in keys)]


def _configures(steps: Sequence[GivenStep]) -> bool:
    """Return whether something changes that next pods of all namespaces depend on."""
    return any(item.kind is not None and item.kind.kind in {"ConfigMap", *OF_CLUSTER} for item in steps)


def _with_next_pods(
    source: ObjectSource,
    maker: NextPods,
    change_report: ChangeReport,
    steps: Sequence[PlacedStep],
    spaces: Sequence[str],
    options: EvaluationOptions,
) -> ChangeReport:
    for _ in range(3):  # what makes a pod names what defines it, and this may name more
        source.fill(maker.reads(source.store, spaces))
    lacking = [
        space for space in spaces if source.store.covered(ReadRequest(maker.kind, space)).state in {"denied", "failed"}
    ]
    change_report = maker.compare(change_report, source.store, steps, spaces, options)
    texts = [f"{maker.kind}s of {', '.join(lacking)} could not be read: what their next pods get is not shown"]
    return structs.replace(change_report, notes=(*change_report.notes, *texts * bool(lacking)))


def _with_nodes(
    source: ObjectSource, change: ChangeWithPods, steps: Sequence[PlacedStep], options: EvaluationOptions
) -> ChangeReport:
    """Return the report with the nodes for new pods; nodes are not read if no pod is created."""
    if not change.pods.created:
        return change.report
    from kubectl_kres.reports.changes.nodes import change_node_needs, with_nodes

    fill_all(source, lambda: change_node_needs(source.store, change.pods, steps))
    return with_nodes(change.report, source.store, change.pods, steps, options.server.version[1])


def _is_wide(steps: Sequence[GivenStep], store: Store) -> bool:
    """Whether a class of the cluster changes, or a parameter of policies, which may concern every namespace that is
    looked at.
    """
    parameters = parameters_of(policies_of(steps, store))
    return any(parameters.is_parameter_step(item.step) for item in steps) or any(
        step.kind is not None and not step.kind.namespaced and step.kind.kind not in cluster_kinds() for step in steps
    )


def _list_step_namespaces(steps: Sequence[object], default: str) -> tuple[str, ...]:
    named = {getattr(step, "namespace", "") for step in steps} - {""}
    return tuple(sorted(named)) or (default,)


def _read(options: Options, source: ObjectSource, steps: Sequence[GivenStep]) -> tuple[Store, tuple[str, ...], str]:
    """Return the filled store, the namespaces to simulate, and the default namespace."""
    if options.offline:
        default = (*options.namespaces, "default")[0]
        store = source.store
        spaces = tuple(dict.fromkeys((default, *(step.namespace for step in steps if step.namespace))))
        for read in (*namespace_needs(spaces), *namespace_needs([""]), *cluster_needs()):
            store.cover(read, READ)
        return store, spaces, default
    named = [step.namespace for step in steps if step.namespace]
    asked = tuple(dict.fromkeys((*source.namespaces, *named)))
    wide = options.all_namespaces or not source.namespaces
    reads = list(namespace_needs([""] if wide else asked))
    if any(step.kind is not None and step.kind.kind in cluster_kinds() for step in steps):
        reads += cluster_needs()
        reads += namespace_needs([""]) if not wide and _moves_quotas(steps) else ()
    for maker in _concerned_makers(steps):
        in_spaces = [""] if wide else asked
        reads += [ReadRequest(kind, space, required=False) for kind in maker.kinds for space in in_spaces]
    source.fill(reads)
    spaces, default = asked, asked[0] if asked else "default"
    if wide:
        spaces = tuple(sorted(_namespaces_with_objects(source.store)))
        default = spaces[0] if len(spaces) == 1 else "default"
    _read_policies(source, spaces, steps, default)
    return source.store, spaces, default


def _read_policies(
    source: ObjectSource, spaces: Sequence[str], given_steps: Iterable[GivenStep] = (), default: str = ""
) -> None:
    """Read admission policies: bindings first, then the policies they name, then their parameters."""
    steps = [(item.step, item.namespace or default) for item in given_steps]
    for _ in range(3):
        source.fill(plugin_needs(source.store, spaces, steps))


def _moves_quotas(steps: Sequence[GivenStep]) -> bool:
    """Return whether a pool or a namespace changes, so that quotas of any namespace can change."""
    return any(step.kind is not None and step.kind.kind in {"ResourcePool", "Namespace"} for step in steps)


def _namespaces_with_objects(store: Store) -> set[str]:
    """Return the namespaces that hold anything that a change may concern."""
    kinds = (*IN_NAMESPACE, "Pod", *(kind for maker in next_pod_makers() for kind in maker.kinds))
    return {item.metadata.namespace for kind in kinds for item in store.all(kind)}


def _add_notes(
    change_report: ChangeReport,
    store: Store,
    spaces: Sequence[str],
    assumptions: Sequence[Wording],
    left: Sequence[FailedRead] = (),
) -> ChangeReport:
    """Add notes to the report. ``left``: objects of the change that are not simulated."""
    whole = tuple(find_unread(store, (read for read in namespace_needs([""]) if read.required)))
    failed_reads = (
        tuple(find_unread(store, (read for read in namespace_needs(spaces) if read.required))) if whole else ()
    )
    autoscalers = (read for space in ("", *spaces) for read in namespace_needs([space]) if read.kind == _AUTOSCALER)
    lacking = [read for read in autoscalers if store.covered(read).state in {"denied", "failed"}]
    texts = [f"{_AUTOSCALER}s could not be read: how far they get is not shown"] * bool(lacking)
    failed_reads = (*failed_reads, *unread_by_systems(store, spaces), *left)
    return structs.replace(
        change_report,
        notes=(*change_report.notes, *texts, *assumptions),
        unread=(*failed_reads, *change_report.unread),
        complete=not failed_reads,
    )


def _compare_snapshots(options: Options, items: Items, run_summary: RunSummary) -> int:
    """Return the comparison of two snapshots: what changed, and which workloads lost by it."""
    if not options.before:
        raise UsageError("--to goes with --from FILE")
    if _ordered_flags():
        raise UsageError("--from compares two moments: steps do not go with it")
    if options.after and (options.demo or options.snapshot):
        raise UsageError(f"--to and {'--demo' if options.demo else '--snapshot'} both name the later moment")
    server_of = server_from_flags(options)
    old = options._replace(snapshot=options.before, demo=False)
    new = options._replace(snapshot=options.after) if options.after else options
    with (
        gc_disabled(),
        open_source(old, lean=lean_converters()) as (before, _),
        open_source(new, lean=lean_converters()) as (after, given_steps),
    ):
        del given_steps
        sides = []
        for source in (before, after):
            source.fill([*namespace_needs(source.namespaces or [""]), *cluster_needs()])
            _read_policies(source, source.namespaces)
        server, assumptions = server_of(after.version())
        # What was read on one side alone would have come or gone.
        spaces = after.namespaces or before.namespaces
        spaces = spaces or tuple(sorted(_namespaces_with_objects(before.store) | _namespaces_with_objects(after.store)))
        seen = not options.no_seen
        sides = [current_final_states(source.store, server, spaces, seen=seen) for source in (before, after)]
        change_report = compare_sides(sides[0], sides[1], _rollouts(options, sides))
        noted = _add_notes(change_report, after.store, after.namespaces or ("",), assumptions)
        return _print_report(options, items, run_summary, after, noted, after.store.origin)


def _print_report(
    options: Options,
    items: Items,
    run_summary: RunSummary,
    source: ObjectSource,
    change_report: ChangeReport,
    origin: Origin,
) -> int:
    run_summary.look_at(source)
    negative = change_report.is_refused or (options.exit_code and change_report.outcome == "worse")
    run_summary.add_answer(change_report.unread, complete=change_report.complete, negative=negative)
    if options.output in DOCUMENTS:
        items.add(change_report)
        items.write("Change", origin, frame_of(run_summary), kube_version=options.kube_version)
    elif options.output == "diff":
        print_lines(render.difference(change_report))
        for step in change_report.steps:
            if not step.allowed:
                print_stderr(f"step {step.number} is refused: {step.message}")
    elif options.output == "brief":
        print_lines(
            brief.lines(
                render.brief(change_report, partial(_explain_command, options)), color=wants_color(options.color)
            )
        )
    else:
        shown = render.lines(
            change_report, color=wants_color(options.color), width=width(wide=options.output == "wide")
        )
        print_lines(run_summary.watched(shown))
    return run_summary.code(source)


def _explain_command(options: Options, ref: ObjectRef) -> str:
    """Return the command that explains a workload after the change; empty if no command can."""
    if any(getattr(options, name) for name in (*_STEPS, "before") if name != "filenames"):
        return ""
    return explain_command(options, ref)


command = Command(
    "simulate",
    run,
    text="""
        Try a change and show what it does: which workloads lose pods or get some, whose next pod would be refused or
        get other values, whose next rollout would stall, which quotas are over their limit, which claims are won or
        lost. Unchanged objects are omitted. Nothing is written to the cluster.

        The steps are carried out in the order given; then the controllers act until they are at rest, after all their
        back-offs. Where a race between them decides, the worst and the best outcome are shown.

        Exits with 1 if the server would refuse a step, and with --exit-code if anything gets worse.
        """,
    examples="""
        # Who would this LimitRange hurt?
        kubectl kres simulate -f limitrange.yaml -n shop

        # In all namespaces, for a file that names none
        kubectl kres simulate -f limitrange.yaml -A

        # Would this chart fit, and what would it push out?
        helm template . | kubectl kres simulate -n shop -f -

        # First scale up, then lower the quota
        kubectl kres simulate --scale deploy/web=12 --set quota/q:spec.hard.pods=9

        # What becomes possible once this claim is released?
        kubectl kres simulate --release claim/batch -n shop

        # What changed since yesterday, and which workloads does it hurt?
        kubectl kres simulate --from yesterday.kres --to prod.kres

        # Could three workloads be rolled out at once?
        kubectl kres simulate --rollouts 3 -n shop

        # For a pipeline
        kubectl kres simulate -f chart/ --exit-code -o json

        # On the bundled example, without a cluster
        kubectl kres simulate --demo -n shop --scale deploy/storefront=9
        """,
    usage="(-f FILE | --delete ... | --from FILE)",
    flags=(*SIMULATED, *FILES, ALL_NAMESPACES, NO_SEEN, OUTPUT, EXIT_CODE, ALLOW_PARTIAL, *SERVER),
    formats=("text", "wide", "brief", "json", "yaml", "diff"),
)
