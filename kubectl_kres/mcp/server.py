"""The protocol, by the official SDK: on standard input and output, no port, no tool that writes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kubectl_kres import __version__, api
from kubectl_kres.errors import KresError, UsageError
from kubectl_kres.mcp.shrink import text_of
from kubectl_kres.mcp.tools import TOOLS, Open, answered

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

_INSTRUCTIONS = (
    "Explains requests, limits, quotas, Tekton and Capsule of a Kubernetes cluster. It only reads. Answers have at "
    "most 8 kB; leftOut names what is not in them, and kubectl kres COMMAND -o json prints all."
)


def available() -> None:
    """Raises UsageError where the SDK is not installed."""
    try:
        import mcp.server.lowlevel
        import mcp.server.stdio  # noqa: F401, whether the extra is installed
    except ImportError as error:
        hint = "pipx install 'kubectl-kres[mcp]', or uv tool install 'kubectl-kres[mcp]'; archives do not hold it"
        raise UsageError("kubectl kres mcp needs the package mcp, which is not installed", hint=hint) from error


def made(opened: Open, contexts: tuple[str, ...]) -> Server[Any]:
    """The server of the tools. ``contexts``: those that may be asked."""
    import anyio.to_thread
    from mcp import types
    from mcp.server.lowlevel import Server

    one_by_one = threading.Lock()
    clusters: dict[str, api.Cluster] = {}

    def cluster(context: str) -> api.Cluster:
        if context not in clusters:
            clusters[context] = opened(context)
        return clusters[context]

    def called(name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        with one_by_one:
            try:
                result, failed = answered(name, arguments, cluster, contexts), False
            except KresError as error:
                result, failed = {"error": error.message[:1000], "hint": error.hint[:1000]}, True
        # Once, and as text, which every client shows to its model; structured content would have to repeat it there.
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=text_of(result))]
        return types.CallToolResult(content=content, is_error=failed)

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        reads = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)
        return types.ListToolsResult(
            tools=[
                types.Tool(name=tool.name, description=tool.text, input_schema=tool.schema(contexts), annotations=reads)
                for tool in TOOLS
            ]
        )

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await anyio.to_thread.run_sync(called, params.name, params.arguments or {})

    return Server(
        "kubectl-kres",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve(opened: Open, contexts: tuple[str, ...]) -> None:
    """Answers until standard input ends. Raises UsageError where the SDK is not installed."""
    available()
    import anyio
    from mcp.server.stdio import stdio_server

    server = made(opened, contexts)

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)
