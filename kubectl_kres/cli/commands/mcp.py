"""``kubectl kres mcp``: answers for agents, on standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kubectl_kres.cli.args.options import DEMO, SNAPSHOT, Options
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.garbage import gc_disabled
from kubectl_kres.errors import UsageError

if TYPE_CHECKING:
    from kubectl_kres.api import Cluster

#: Stands for the context of a cluster that we are in.
_INSIDE = "in-cluster"


def run(options: Options, words: tuple[str, ...]) -> int:
    """Answers until standard input ends. Raises ConfigError, UsageError where the SDK is not installed."""
    from kubectl_kres.mcp import server

    if words:
        raise UsageError(f"mcp takes no arguments, not {' '.join(words)}")
    if options.demo and options.snapshot:
        raise UsageError("--demo and --snapshot exclude each other")
    with gc_disabled():
        server.available()
    contexts = _contexts(options)

    def open_cluster(context: str) -> Cluster:
        return _cluster(options, context)

    server.serve(open_cluster, contexts)
    return 0


def _contexts(options: Options) -> tuple[str, ...]:
    """Return what may be asked: without ``--context`` every one of the kubeconfig."""
    if options.demo or options.snapshot:
        return ("demo",) if options.demo else ("snapshot",)
    if options.context:
        return (options.context,)
    from kubectl_kres.cli.complete_names import entries

    return tuple(entries(options, "contexts")) or (_INSIDE,)


def _cluster(options: Options, context: str) -> Cluster:
    from kubectl_kres import api

    if options.demo:
        return api.demo()
    if options.snapshot:
        return api.open_snapshot(Path(options.snapshot))
    from kubectl_kres.api.live import LiveCluster
    from kubectl_kres.cli.source.live import open_connection  # a quarter of a second

    target, connection = open_connection(options._replace(context="" if context == _INSIDE else context))
    return LiveCluster(connection, target.namespace, target.context)


command = Command(
    "mcp",
    run,
    text="""
        Answer agents over the Model Context Protocol, on standard input and output: the tools explain, fit,
        simulate, claims and overview. They only read; each call names the context and the namespace it asks about,
        claims and overview without one answer for all. An answer has at most 8 kB. No port is opened.

        It needs the extra package: pipx install 'kubectl-kres[mcp]'.
        """,
    examples="""
        # The command in an agent's settings: every context may be asked
        kubectl-kres mcp

        # This context alone, as somebody with few rights
        kubectl-kres mcp --context prod --as reader

        # A snapshot, so that no cluster can be reached
        kubectl-kres mcp --snapshot prod.kres
        """,
    flags=(SNAPSHOT, DEMO),
    configured=False,
)
