"""Messages to ``kubectl kres mcp`` that hold anything: each call is answered or refused, and the server goes on.

KRES_FUZZ: how many calls are tried; without it a fixed number. KRES_FUZZ_SEED: the first one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from copy import deepcopy
from random import Random
from threading import Thread
from typing import IO, Any

import pytest
from hostile.random_objects import VALUES

from kubectl_kres import api
from kubectl_kres.errors import KresError
from kubectl_kres.mcp.tools import LIMIT, TOOLS, answer_tool, text_of

pytestmark = pytest.mark.thorough

COUNT = int(os.environ.get("KRES_FUZZ", "") or 150)
FIRST = int(os.environ.get("KRES_FUZZ_SEED", "") or 0)
PROGRAM = "from kubectl_kres.cli.main import entry; import sys; sys.argv[0] = 'kubectl-kres'; sys.exit(entry())"
_WORDS = (
    "shop",
    "checkout",
    "ml-notebooks",
    "deploy/cart",
    "deploy/checkout",
    "quota/team",
    "pods",
    "demo",
    "1Gi",
    "9",
)


def arguments(random: Random, tool: Any) -> dict[str, Any]:
    """Sound ones of a tool's schema, altered in one or two places."""
    names = list(tool.schema(("demo",))["properties"])
    found: dict[str, Any] = {name: random.choice(_WORDS) for name in names}
    found["context"] = "demo"
    for _ in range(random.randint(0, 2)):
        found[random.choice((*names, "x", ""))] = random.choice((*VALUES, *_WORDS))
    for name in names:
        if random.random() < 0.2:
            found.pop(name, None)
    return found


def test_any_arguments_are_answered_or_refused() -> None:
    demo = api.demo()
    wrong, answers = [], 0
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        tool = random.choice(TOOLS)
        given = arguments(random, tool)
        try:
            said = text_of(answer_tool(tool.name, given, lambda _context: demo, ("demo",)))
        except KresError as error:
            said = error.message
            if "\n" in said:
                wrong.append((seed, tool.name, given, said))
        except Exception as error:  # noqa: BLE001, that is what is looked for
            wrong.append((seed, tool.name, given, repr(error)))
        else:
            answers += 1
            if len(json.dumps(said)) > LIMIT:
                wrong.append((seed, tool.name, given, len(said)))
    assert wrong == [], "\n".join(map(str, wrong[:10]))
    assert answers


def line(random: Random, number: int) -> bytes:
    """A message: sound, of random values, cut off, or no text at all."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
    message["params"] = {"name": random.choice(TOOLS).name, "arguments": {"context": "demo"}}
    for _ in range(random.randint(0, 3)):
        place = random.choice((message, message["params"] if isinstance(message["params"], dict) else message))
        name = random.choice(("jsonrpc", "id", "method", "params", "name", "arguments", "x"))
        place[name] = deepcopy(random.choice(VALUES))
        if not isinstance(message.get("params"), dict):
            break
    text = json.dumps(message).encode()
    deed = random.random()
    if deed < 0.15:
        return text[: random.randrange(len(text))]
    if deed < 0.25:
        return random.randbytes(40).replace(b"\n", b"x").replace(b"\r", b"x")
    return text


def test_half_of_a_surrogate_pair_in_a_manifest_is_refused_in_one_line() -> None:
    with pytest.raises(KresError, match="half of a surrogate pair"):
        answer_tool(
            "fit", {"context": "demo", "namespace": "shop", "manifest": "a: \ud800"}, lambda _: api.demo(), ("demo",)
        )


def _write_all(stream: IO[bytes], data: bytes) -> None:
    stream.write(data)
    stream.flush()


@pytest.mark.thorough
def test_after_any_messages_the_next_one_is_answered() -> None:
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": start}).encode(),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode(),
        *(line(Random(seed), seed) for seed in range(FIRST, FIRST + COUNT)),
        json.dumps({"jsonrpc": "2.0", "id": "last", "method": "tools/list"}).encode(),
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "mcp", "--demo"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        # Thousands of them fill the pipe, as their answers fill the other one.
        Thread(target=_write_all, args=(process.stdin, b"\n".join(lines) + b"\n"), daemon=True).start()
        answers = []
        for said in process.stdout:
            answers.append(json.loads(said))
            if answers[-1].get("id") == "last":
                break
        assert [tool["name"] for tool in answers[-1]["result"]["tools"]] == [tool.name for tool in TOOLS]
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert b"Traceback" not in said, said[-2000:]
