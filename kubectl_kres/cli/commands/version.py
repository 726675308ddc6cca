"""``kubectl kres version``: this program, Python, the Kubernetes rules it knows, and the server."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from kubectl_kres import __version__
from kubectl_kres.admission.base.versions import NEWEST, OLDEST, nearest_version, version_text
from kubectl_kres.cli.args.options import CLIENT, OUTPUT, RBAC, Options
from kubectl_kres.cli.command import Command
from kubectl_kres.cli.output.exit_codes import print_stderr
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.render.text.line import sanitize_text


def run(options: Options, words: tuple[str, ...]) -> int:
    """Prints the client's part in any case, and then what kept the server's from being read."""
    if options.rbac:
        return _rbac(options, words)
    if words:
        raise UsageError(f"version takes no arguments, not {' '.join(words)}")
    failed: KresError | None = None
    server: dict[str, Any] = {}
    if not options.client:
        try:
            server = _server(options)
        except KresError as error:
            failed = error
    _print(options.output, server)
    sys.stdout.flush()
    if failed:
        raise failed
    return 0


def _rbac(options: Options, words: tuple[str, ...]) -> int:
    """The roles that commands need, for the namespaces of ``-n`` or for all."""
    from kubectl_kres.reports.common import rbac  # --client must stay fast

    if options.client:
        raise UsageError("--rbac and --client exclude each other")
    roles = rbac.roles(words, () if options.all_namespaces else options.namespaces)
    if options.output in {"text", "yaml"}:
        print("\n".join(rbac.lines(roles, words)))
        return 0
    from kubectl_kres.cli.output.documents import format_document  # --client must stay fast

    print(format_document({"apiVersion": "v1", "kind": "List", "items": roles}, options.output), end="")
    return 0


def _server(options: Options) -> dict[str, Any]:
    from kubectl_kres.cli.source.live import open_connection  # --client must stay fast
    from kubectl_kres.cluster.connection import whoami
    from kubectl_kres.cluster.read.fill_store import version

    target, connection = open_connection(options, asks_user=False)
    with connection:
        text = version(connection)
        person = whoami(connection)
    for warning in connection.warnings:
        print_stderr(f"Warning: {warning}")
    return {
        "gitVersion": text,
        "context": target.context,
        "server": target.server,
        "user": target.user_name,
        "impersonate": target.user.impersonate or "",
        "username": (person.username if person else "") or "",
        "groups": list((person.groups if person else ()) or ()),
    }


def _print(output: str, server: Mapping[str, Any]) -> None:
    document: dict[str, Any] = {
        "clientVersion": {
            "gitVersion": f"v{__version__}",
            "pythonVersion": platform.python_version(),
            "platform": f"{platform.system().lower()}/{platform.machine()}",
            "rules": {"oldest": version_text(OLDEST), "newest": version_text(NEWEST)},
        }
    }
    if server:
        document["serverVersion"] = {**server, "rules": version_text(nearest_version(server["gitVersion"])[0])}
    if output == "text":
        print("\n".join(_lines(document)))
        return
    from kubectl_kres.cli.output.documents import format_document  # --client must stay fast

    print(format_document(document, output), end="")


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    client, server = document["clientVersion"], document.get("serverVersion")
    yield f"Client Version: {client['gitVersion']}"
    yield f"Python: {client['pythonVersion']}"
    yield f"Rules: Kubernetes {client['rules']['oldest']} to {client['rules']['newest']}"
    if server is None:
        return
    context_text = f" (context {server['context']})" if server["context"] else ""
    yield sanitize_text(f"Server Version: {server['gitVersion'] or 'unknown'}{context_text}")
    yield sanitize_text(f"Server: {server['server']}")
    acting = f", acting as {server['impersonate']}" if server["impersonate"] else ""
    if server["username"]:
        groups = f" of {', '.join(server['groups'])}" if server["groups"] else ""
        yield sanitize_text(
            f"User: {server['username']}{groups} ({server['user'] or 'none'} in the kubeconfig{acting})"
        )
    else:
        yield sanitize_text(f"User: {server['user'] or 'none'} in the kubeconfig{acting}")
    assumed = nearest_version(server["gitVersion"])[1]
    if assumed:
        yield f"Assumed: {assumed}"


command = Command(
    "version",
    run,
    text="""
        Print the versions of this program, of the rules that it knows, and of the server of the current context.

        With --rbac the least roles that all commands need, or those that are named: a ClusterRole, or with -n a Role
        for that namespace and a ClusterRole for what stands in none. No server is asked.
        """,
    examples="""
        # Client and server
        kubectl kres version

        # The client alone; no server is asked
        kubectl kres version --client -o json

        # What somebody must be allowed to read for explain and quota in one namespace
        kubectl kres version --rbac explain quota -n shop

        # All of it, for an on-call group
        kubectl kres version --rbac | kubectl apply -f -
        kubectl create clusterrolebinding kres --clusterrole=kubectl-kres --group=sre
        """,
    usage="[--rbac [COMMAND...]]",
    completes=("explain", "quota", "claims", "pools", "diff", "qos", "snapshot", "tui"),
    flags=(CLIENT, RBAC, OUTPUT),
    formats=("text", "json", "yaml"),
    configured=False,
)
