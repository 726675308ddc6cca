"""Every way in, given names of Secrets and ConfigMaps: commands, MCP tools, functions for Python."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from kubectl_kres import api
from kubectl_kres.cli.program import commands
from kubectl_kres.errors import KresError
from kubectl_kres.mcp.tools import TOOLS, answer_tool

#: Names of what holds no pod template and may hold secrets, as they can be typed.
NAMES = (
    *("secret/db", "secrets/db", "Secret/db", "secrets.v1./db", "secret/nope"),
    *("configmap/settings", "cm/settings", "configmaps.v1./settings"),
)
#: Flags that name an object, by command.
_FLAGS = {"quota": ("--fit", "--resize"), "simulate": ("--scale", "--delete"), "claims": ("--for",)}
#: What neither reads a cluster nor ends by itself: ``mcp`` is called through its tools.
_APART = frozenset({"mcp", "completion"})


def command_lines(extra: tuple[str, ...] = ()) -> Iterator[list[str]]:
    """Every command with a name, as TYPE/NAME, as TYPE NAME, as a type alone, and behind its flags."""
    for command in commands():
        if command in _APART:
            continue
        for name in ("secret/db", "secrets.v1./db", "cm/settings"):
            kind, _, own = name.partition("/")
            for words in ([name], [kind, own], [kind]):
                yield [command, *words, *extra]
            for flag in _FLAGS.get(command, ()):
                yield [command, flag, f"{name}=3" if flag == "--scale" else name, *extra]


def function_calls(cluster: api.Cluster, namespace: str) -> Iterator[Callable[[], Any]]:
    """Every function that takes an object, with each name."""
    for name in NAMES:
        for function in (api.explain, api.qos, api.diff, api.fit, api.check):
            yield lambda function=function, name=name: function(name, cluster=cluster, namespace=namespace)
        yield lambda name=name: api.explain_all([name], cluster=cluster, namespace=namespace)
        yield lambda name=name: api.simulate(cluster=cluster, namespace=namespace, delete=[name])
        yield lambda name=name: api.simulate(cluster=cluster, namespace=namespace, scale={name: 3})


def tool_calls(cluster: api.Cluster, namespace: str) -> Iterator[Callable[[], Any]]:
    """Every tool, with each name in each argument that names an object."""
    for tool in TOOLS:
        for name in NAMES:
            for argument in ("object", "delete", "scale"):
                if argument in tool.properties:
                    text = f"{name}=3" if argument == "scale" else name
                    given = {"context": "c", "namespace": namespace, argument: text}
                    yield lambda tool=tool, given=given: answer_tool(tool.name, given, lambda _: cluster, ("c",))


def call_all(calls: Iterator[Callable[[], Any]]) -> int:
    """Make every call, whether it answers or refuses: how many they were."""
    count = 0
    for call in calls:
        count += 1
        with contextlib.suppress(KresError):
            call()
    return count


def reads_contents(uri: str) -> bool:
    """Whether a request would give, or count, Secrets, or give ConfigMaps that nothing but a caller named."""
    path = uri.partition("?")[0]
    return "secrets" in path.split("/") or path.endswith(("/configmaps", "/configmaps/settings"))
