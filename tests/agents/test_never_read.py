"""No way in reads a Secret or a ConfigMap on a caller's word, whatever the type was called."""

from __future__ import annotations

from time import monotonic
from typing import Any

import pytest
from agents.every_entry import NAMES, call_all, command_lines, function_calls, reads_contents, tool_calls
from cli.apiserver import Api
from cli.running import Kres

from kubectl_kres import api as python
from kubectl_kres.cli import complete
from kubectl_kres.errors import UsageError
from kubectl_kres.model.kinds import Kind

#: The core group as a server lists it: discovery finds Secrets by all of their names.
CORE = {
    "metadata": {},
    "versions": [
        {
            "version": "v1",
            "resources": [
                {
                    "resource": "secrets",
                    "responseKind": {"kind": "Secret"},
                    "scope": "Namespaced",
                    "singularResource": "secret",
                }
            ],
        }
    ],
}


@pytest.fixture
def serving(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """A server that has Secrets, and says so."""
    plain = api.answer

    def answer(path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path == "/api":
            return 200, {"kind": "APIGroupDiscoveryList", "items": [CORE]}
        return plain(path, query)

    monkeypatch.setattr(api, "answer", answer)
    api.objects.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"}})
    return api


def test_no_command_reads_secrets(serving: Api, kres: Kres):
    for words in command_lines():
        done = kres("", *words)
        assert done.code != 70, (words, done.err)
    assert serving.asked and [uri for uri in serving.asked if reads_contents(uri)] == []


@pytest.mark.parametrize("word", ["secret/", "secrets/d", "secrets.v1./", "cm/", "configmaps/s"])
def test_no_completion_reads_secrets(serving: Api, word: str):
    for command in ("explain", "qos", "diff", "simulate"):
        complete.answer([command, word], monotonic())
    assert [uri for uri in serving.asked if reads_contents(uri)] == []


def test_no_function_reads_secrets(serving: Api):
    cluster = python.open_cluster(namespace="shop")
    assert call_all(function_calls(cluster, "shop")) == 8 * len(NAMES)
    assert serving.asked and [uri for uri in serving.asked if reads_contents(uri)] == []


def test_no_tool_reads_secrets(serving: Api):
    cluster = python.open_cluster(namespace="shop")
    assert call_all(tool_calls(cluster, "shop")) >= 4 * len(NAMES)
    assert serving.asked and [uri for uri in serving.asked if reads_contents(uri)] == []


@pytest.mark.parametrize("function", [python.explain, python.fit, python.qos, python.diff])
def test_a_type_without_pod_template_is_refused_before_it_is_read(serving: Api, function: Any):
    cluster = python.open_cluster(namespace="shop")
    # A namespace has an answer of its own in explain: what its quotas and LimitRanges say.
    for name in ("secret/db", "cm/settings", *(() if function is python.explain else ("ns/shop",))):
        with pytest.raises(UsageError, match=r"hold no pod template|make no pods"):
            function(name, cluster=cluster, namespace="shop")
    assert not any("/namespaces/shop" in uri for uri in serving.asked)


def test_a_path_of_secrets_cannot_be_made():
    for kind in (Kind("Secret", ("secrets", "secret")), Kind("Odd", ("secrets",)), Kind("Secret", ("odd",))):
        with pytest.raises(UsageError, match="secrets are never read"):
            kind.path("shop", "db")
    assert Kind("Secret", ("secrets",), "vault.example.com").path("shop") == (
        "/apis/vault.example.com/v1/namespaces/shop/secrets"
    )
