"""Servers, watches, kubeconfigs, policies and folders of a fleet that hold anything: a run ends with a documented code.

KRES_FUZZ: how many of each are tried; without it a fixed number. KRES_FUZZ_SEED: the first one.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from cli.apiserver import Api, Said, deployment, pod
from cli.test_cli_fault_matrix import COMMANDS as PLAIN
from cli.test_cli_fault_matrix import FAULTS, pooled
from hostile.random_objects import VALUES, altered
from hostile.test_random_snapshots import damaged

COUNT = int(os.environ.get("KRES_FUZZ", "") or 60)
FIRST = int(os.environ.get("KRES_FUZZ_SEED", "") or 0)
DOCUMENTED = frozenset(range(5))
PLURALS = (
    *("limitranges", "resourcequotas", "pods", "deployments", "replicasets", "namespaces", "events", "nodes"),
    *("resourcepools", "resourcepoolclaims", "persistentvolumeclaims", "services", "version", "api", "apis"),
    *("validatingadmissionpolicies", "validatingadmissionpolicybindings", "priorityclasses", "taskruns"),
)
EXTENSIONS = frozenset({"resourcepools", "resourcepoolclaims", "taskruns"})
COMMANDS = (
    *PLAIN,
    "check -A -o json",
    "overview -A -o json",
    "simulate --scale deploy/web=4 -o json",
    "snapshot --out s",
)
#: Words in which an answer says that something is missing or not known.
LACKS = re.compile(
    r"could not be|cannot be|may not be|is not known|are not known|not read|notRead|failed|denied|given without|KRES901"
)
#: What a server without the extension says of its kinds, and a tenant who may not read them: that answer is whole.
ABSENT = frozenset({403, 404})
Raw = dict[str, Any]

Ended = tuple[int, str, str]
Run = Callable[..., Ended]


def objects() -> list[Raw]:
    quota = {"hard": {"pods": "10"}}
    meta = {"namespace": "shop"}
    return [
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "more", **meta},
         "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}},
        *({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name, **meta}, "spec": quota,
           "status": {**quota, "used": {"pods": "2"}}} for name in ("a", "b")),
        *(pod(name, "1Mi") for name in ("p", "q")),
        *(deployment(name, "1Mi") for name in ("web", "db")),
        *({**deployment(name, "1Mi"), "kind": "ReplicaSet"} for name in ("r", "s")),
        *(pooled("ResourcePool", name, spec={"quota": {"hard": {"cpu": "4"}}}, status={"namespaces": ["shop"]})
          for name in ("green", "red")),
        *(pooled("ResourcePoolClaim", name, "shop", spec={"pool": "green", "claim": {"cpu": "1"}})
          for name in ("large", "small")),
    ]  # fmt: skip


def fault(random: Random) -> Said:
    """One of those that have a name, or bytes, JSON and headers of any kind."""
    deed = random.random()
    if deed < 0.5:
        return random.choice(list(FAULTS.values()))
    code = random.choice((200, 200, 200, 201, 301, 400, 401, 403, 404, 410, 429, 500, 503))
    if deed < 0.6:
        return Said(code, random.randbytes(random.randrange(200)))
    if deed < 0.7:
        items = [deepcopy(random.choice(VALUES)) for _ in range(3)]
        return Said(code, {"kind": "PodList", "metadata": random.choice(VALUES), "items": items}, "application/json")
    if deed < 0.8:
        text = gzip.compress(b'{"kind":"PodList","items":[' + b"{}," * random.choice((1, 1_000, 200_000)))
        return Said(200, text[: random.choice((len(text), len(text) // 2))], headers={"Content-Encoding": "gzip"})
    if deed < 0.9:
        headers = {random.choice(("Retry-After", "Location", "Content-Encoding", "Warning")): random.choice(
            ("-1", "0", "1e9", "x", "/", "http://127.0.0.1:1/", "gzip", "br", '299 - "\x1b[31m"'))}  # fmt: skip
        return Said(code, {"kind": "Status", "message": "m\x1b[31m\n", "code": code}, headers=headers)
    status = altered(random, {"kind": "Status", "code": code, "reason": "x", "message": "y", "details": {"name": "z"}})
    return Said(code, status)


def is_absent(item: tuple[str, Said]) -> bool:
    plural, said = item
    return plural in EXTENSIONS | {"apis"} and said.code in ABSENT


def answer_of(out: str) -> tuple[bool, Any]:
    """Whether a document says that it is complete, and its items without the times."""
    document = json.loads(out)
    return bool(document["metadata"].get("complete")), document.get("items")


def differences(before: Any, after: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield what two values have in the same place, each as a text; empty: only the other one has something there."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from differences(before.get(key), after.get(key), key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for pair in zip(before, after, strict=True):
            yield from differences(*pair, field)
    elif before != after:
        yield "" if before is None else f"{field} {before!r}", "" if after is None else f"{field} {after!r}"


def is_named(before: Any, after: Any, err: str) -> bool:
    """Whether an answer that is another one than without the fault says in words that it lacks something."""
    said = [new for old, new in differences(before, after) if len(LACKS.findall(new)) > len(LACKS.findall(old))]
    return bool(said) or LACKS.search(err) is not None


def test_any_server_is_answered_about(api: Api, run: Run) -> None:
    """Nor is an answer called complete that is another one than without the fault, and does not name what it lacks."""
    whole: dict[str, Any] = {}
    wrong, ended = [], set()
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        command = random.choice(COMMANDS)
        api.objects, api.faults, api.watched = objects(), {}, None
        if command not in whole and command.endswith("json"):
            whole[command] = answer_of(run(*command.split(), "--chunk-size", "1")[1])[1]
        spoilt = random.random() < 0.3
        if spoilt:
            item = random.choice(api.objects)
            fields = altered(random, {name: item[name] for name in ("spec", "status", "metadata") if name in item})
            item.update(fields)
            if not isinstance(item.get("metadata"), dict) or not isinstance(item["metadata"].get("labels") or {}, dict):
                item["metadata"] = {"name": "x", "namespace": "shop"}
            item["metadata"].setdefault("name", "x")
        plurals = random.sample(PLURALS, random.choice((0, 1, 2) if spoilt else (1, 1, 2, 4)))
        api.faults = {plural: fault(random) for plural in plurals}
        code, out, err = run(*command.split(), "--chunk-size", "1")
        ended.add(code)
        found: Any = None
        if code not in DOCUMENTED or "Traceback" in err or "\x1b" in out + err:
            found = code, err[-800:]
        elif out and command.endswith("json") and not spoilt and not any(map(is_absent, api.faults.items())):
            complete, items = answer_of(out)
            if complete and code == 0 and items != whole[command] and not is_named(whole[command], items, err):
                found = "another answer, and complete", *differences(whole[command], items)
        if found is not None:
            wrong.append((seed, command, {name: api.faults[name] for name in plurals}, found))
    assert wrong == [], "\n".join(ascii(each)[:1500] for each in wrong[:10])
    assert len(ended) > 1, ended


def test_what_names_a_lack_is_told_from_what_does_not() -> None:
    whole = [{"name": "a", "notes": ["whether pods fit is not known: there is no node"]}]
    assert not is_named(whole, [], "") and not is_named(whole, [{"name": "a"}], "")
    assert not is_named(whole, [{**whole[0], "count": 4}], "")
    assert is_named(whole, [{**whole[0], "unread": [{"kind": "Node", "state": "failed"}]}], "")
    assert is_named(whole, [{"name": "a", "notes": ["whether pods fit is not known: nodes could not be read"]}], "")
    assert is_named(whole, [], "error: pods of namespace shop may not be read")


def test_any_watch_is_followed_or_told_of(api: Api, run: Run) -> None:
    wrong = []
    for seed in range(FIRST, FIRST + max(COUNT // 20, 3)):
        random = Random(seed)
        command = random.choice(("explain deploy/web", "quota", "qos -A", "overview", "claims", "explain pods"))
        api.objects, api.watched = objects(), fault(random)
        if random.random() < 0.6:
            events = [{"type": random.choice(("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "x")),
                       "object": altered(random, deepcopy(random.choice(api.objects)))} for _ in range(5)]  # fmt: skip
            text = b"\n".join(json.dumps(event).encode() for event in events)
            api.watched = Said(200, text[: random.choice((len(text), random.randrange(len(text))))])
        code, out, err = run(*command.split(), "-w", "--timeout", "700ms")
        if code not in DOCUMENTED or "Traceback" in err or "\x1b" in out + err:
            wrong.append((seed, command, api.watched, code, err[-800:]))
    assert wrong == [], "\n".join(ascii(each)[:1500] for each in wrong[:10])


def config(random: Random) -> Any:
    user: Raw = {"token": "t", "client-certificate-data": "YWJj", "tokenFile": "/nope",
                 "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nope", "args": ["a"],
                          "env": [{"name": "a", "value": "b"}], "interactiveMode": "Never"}}  # fmt: skip
    cluster: Raw = {"server": "https://127.0.0.1:1", "certificate-authority-data": "YWJj", "tls-server-name": "x",
                    "proxy-url": "http://127.0.0.1:1", "insecure-skip-tls-verify": False}  # fmt: skip
    keep = lambda fields: {key: fields[key] for key in random.sample(list(fields), random.randint(0, len(fields)))}  # noqa: E731
    return altered(random, {
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "preferences": {},
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1", **keep(cluster)}}],
        "users": [{"name": "u", "user": keep(user)}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "n"}}],
    })  # fmt: skip


def test_any_kubeconfig_is_used_or_refused(run: Run, tmp_path: Path) -> None:
    wrong = []
    path = tmp_path / "kubeconfig"
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        text = json.dumps(config(random)).encode()
        if random.random() < 0.2:
            place = random.randrange(len(text))
            text = random.choice((text[:place], text[:place] + random.randbytes(3) + text[place:]))
        path.write_bytes(text)
        words = random.choice(("explain deploy/web", "version", "quota -A", "quota --context c", "pools"))
        code, _, err = run(*words.split(), "--request-timeout", "2s")
        if code not in DOCUMENTED or "Traceback" in err:
            wrong.append((seed, words, code, err[-800:]))
    assert wrong == [], "\n".join(ascii(each)[:1500] for each in wrong[:10])


_TOKENS = (
    *("object", "oldObject", "request", "params", "variables", "authorizer", "namespaceObject", ".spec", ".metadata"),
    *(
        ".containers",
        ".all(c, ",
        ".exists(c, ",
        ".map(c, ",
        ".filter(c, ",
        ")",
        "(",
        "[",
        "]",
        "{",
        "}",
        " in ",
        " && ",
    ),
    *(
        " || ",
        "!",
        " == ",
        " < ",
        " + ",
        " - ",
        " * ",
        " / ",
        " % ",
        " ? ",
        " : ",
        "0",
        "1u",
        "-1",
        "1.5",
        "'x'",
        "b'x'",
    ),
    *("null", "true", "has(", "size(", "quantity('1Gi')", ".isGreaterThan(", "string(", "int(", "duration('1h')", ","),
    *("timestamp('2026-01-01T00:00:00Z')", ".matches('a*')", ".startsWith(", "optional.of(", ".?", ".orValue(", "[?0]"),
    *(
        "c.resources",
        "c.image",
        "type(",
        "dyn(",
        "url('http://x')",
        "ip('::1')",
        "cidr('10.0.0.0/8')",
        "semver('1.0.0')",
    ),
    *(
        "'\\ud800'",
        "'\\u202e'",
        "9223372036854775807",
        "1e400",
        ".format([",
        "lists.range(9)",
        ".sort()",
        ".sum()",
        "Object{",
    ),
    *(
        "Object.spec{",
        "JSONPatch{op: 'add', path: '/a', value: 1}",
        "jsonpatch.escapeKey(",
        "sets.contains(",
        "cel.bind(x, ",
    ),
)
_SOUND = (
    "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)",
    "size(object.metadata.name) < 20 ? quantity('1Gi').isGreaterThan(quantity('500Mi')) : false",
    "object.metadata.?labels['app'].orValue('') in ['a', 'b'] || request.operation == 'CREATE'",
    "Object{metadata: Object.metadata{labels: Object.metadata.labels{a: string(size(object.spec.containers))}}}",
    "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]",
    "variables.x.map(c, c.image.split('/')).flatten().exists(i, i.matches('^[a-z]+$'))",
)


def expression(random: Random) -> str:
    """A sound one with some pieces taken out, put in or doubled; or pieces alone."""
    if random.random() < 0.2:
        return "".join(random.choices(_TOKENS, k=random.randint(1, 12)))
    text = random.choice(_SOUND)
    for _ in range(random.randint(0, 3)):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice((0, 0, 1, 4, 12)))
        text = text[:start] + random.choice(("", random.choice(_TOKENS), text[start:end] * 2)) + text[end:]
    return text


def policies(random: Random) -> list[Raw]:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["pods", "deployments"]}
    group = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "a"}}
    common: Raw = {
        "matchConstraints": {"resourceRules": [rule]}, "failurePolicy": random.choice(("Fail", "Ignore")),
        "variables": [{"name": "x", "expression": expression(random)}],
        "matchConditions": [{"name": "m", "expression": random.choice(("true", expression(random)))}],
    }  # fmt: skip
    if random.random() < 0.5:
        spec = {**common, "validations": [{"expression": expression(random), "messageExpression": expression(random)}],
                "auditAnnotations": [{"key": "k", "valueExpression": expression(random)}]}  # fmt: skip
        kind, binding = "ValidatingAdmissionPolicy", {"policyName": "a", "validationActions": ["Deny"]}
    else:
        patch = random.choice((("ApplyConfiguration", "applyConfiguration"), ("JSONPatch", "jsonPatch")))
        mutation = {"patchType": patch[0], patch[1]: {"expression": expression(random)}}
        spec = {**common, "reinvocationPolicy": "IfNeeded", "mutations": [mutation]}
        kind, binding = "MutatingAdmissionPolicy", {"policyName": "a"}
    if random.random() < 0.3:
        wanted = random.choice(("ConfigMap", "Secret", "Odd", "Od_d", "a/b", "../x", "Secret.v1", "", 5, "Pod"))
        spec["paramKind"] = {"apiVersion": random.choice(("v1", "", "x.y/v1", "/", "v1/x/y")), "kind": wanted}
        reference = random.choice(({"name": "db"}, {"selector": {}}, {"name": "../x", "namespace": "a/b"}, {}, None))
        binding["paramRef"] = reference
    made = [{**group, "kind": kind, "spec": spec}, {**group, "kind": f"{kind}Binding", "spec": binding}]
    return [altered(random, each) for each in made] if random.random() < 0.2 else made


def test_any_policy_is_followed_or_named(run: Run, tmp_path: Path) -> None:
    wrong = []
    path = tmp_path / "policies.json"
    for seed in range(FIRST, FIRST + COUNT):
        random = Random(seed)
        path.write_text("\n---\n".join(map(json.dumps, (*policies(random), deployment("web", "1Mi"), pod("p", "1Mi")))))
        words = random.choice(("explain --offline", "check --offline", "simulate --offline", "explain --demo -o json",
                               "diff --offline", "simulate --demo -n shop"))  # fmt: skip
        code, _, err = run(*words.split(), "-f", str(path))
        if code not in DOCUMENTED or "Traceback" in err:
            wrong.append((seed, words, code, err[-800:]))
    assert wrong == [], "\n".join(ascii(each)[:1500] for each in wrong[:10])


def test_any_folder_of_a_fleet_is_gone_through(run: Run, tmp_path: Path) -> None:
    """Files of any name and content: each is a row, and none costs another."""
    for seed in range(FIRST, FIRST + max(COUNT // 60, 1)):
        random = Random(seed)
        folder = tmp_path / f"fleet{seed}"
        folder.mkdir()
        sound = damaged(seed)
        for number in range(20):
            name = bytes(random.choices([*range(1, 47), *range(48, 256)], k=random.choice((1, 8, 60)))) + b"%d" % number
            text = random.choice((sound, damaged(seed + number), sound[: random.randrange(len(sound))],
                                  gzip.compress(sound), random.randbytes(99), b"", flipped(random, sound)))  # fmt: skip
            suffix = random.choice((b".kres", b".kres", b".kres.gz"))
            Path(folder, os.fsdecode(name + suffix)).write_bytes(text)
        report = random.choice(("qos", "quota", "overview", "check", "claims"))
        code, out, err = run("fleet", report, "--snapshots", str(folder), "-o", "json", "--timeout", "20s")
        assert code in DOCUMENTED and "Traceback" not in err, (seed, code, err[-800:])
        assert json.loads(out), seed
        assert "\x1b" not in out + err, seed


def flipped(random: Random, text: bytes) -> bytes:
    place = random.randrange(len(text))
    return text[:place] + bytes([text[place] ^ (1 << random.randrange(8))]) + text[place + 1 :]
