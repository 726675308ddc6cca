"""The protocol, by the official SDK: on standard input and output, no port, no tool that writes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kubectl_kres import __version__, api
from kubectl_kres.errors import Exit, KresError, UsageError
from kubectl_kres.mcp.tools import TOOLS, Open, answer_tool, refusal, text_of

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

_INSTRUCTIONS = (
    "Explains requests, limits, quotas, Tekton and Capsule of a Kubernetes cluster. It only reads. Answers have at "
    "most 8 kB; leftOut names what is not in them, and kubectl kres COMMAND -o json prints all."
)

#: Source: JSON-RPC 2.0, section 5.1.
_INVALID_REQUEST = -32600


def available() -> None:
    """Raises UsageError where the SDK is not installed."""
    try:
        import mcp.server.lowlevel
        import mcp.server.stdio  # noqa: F401, whether the extra is installed
    except ImportError as error:
        hint = "pipx install 'kubectl-kres[mcp]', or uv tool install 'kubectl-kres[mcp]'; archives do not hold it"
        raise UsageError("kubectl kres mcp needs the package mcp, which is not installed", hint=hint) from error


def build_server(opened: Open, contexts: tuple[str, ...]) -> Server[Any]:
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
                result, failed = answer_tool(name, arguments, cluster, contexts), False
            except KresError as error:
                result, failed = refusal(error), True
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


async def _answer_unreadable(incoming: Any, sending: Any, outgoing: Any) -> None:
    """Pass messages on; one that is no JSON-RPC is answered with an error, without an id, since it has none to read.

    The SDK logs it and says nothing, so that whoever sent it waits. Source: JSON-RPC 2.0, section 5.1.
    """
    from mcp.shared.message import SessionMessage
    from mcp.types import ErrorData, JSONRPCError

    async with sending:
        async for message in incoming:
            if not isinstance(message, Exception):
                await sending.send(message)
                continue
            fault = ErrorData(code=_INVALID_REQUEST, message="the message is no request of JSON-RPC 2.0")
            await outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=fault)))


def serve(opened: Open, contexts: tuple[str, ...]) -> None:
    """Answers until standard input ends. Raises UsageError where the SDK is not installed."""
    available()
    import anyio
    from mcp.server.stdio import stdio_server

    server = build_server(opened, contexts)

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
            sending, receiving = anyio.create_memory_object_stream[Any](0)
            group.start_soon(_answer_unreadable, incoming, sending, outgoing)
            await server.run(receiving, outgoing, server.create_initialization_options())

    # The SDK waits for its thread, which waits for a line: nothing but the end of the process wakes it.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(Exit.INTERRUPTED))
    try:
        anyio.run(run)
    finally:
        signal.signal(signal.SIGINT, before)
