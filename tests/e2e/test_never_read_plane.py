"""On a real server, by its own record: no command, MCP tool or function reads Secrets or a ConfigMap that is named."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from agents.every_entry import call_all, command_lines, function_calls, reads_contents, tool_calls
from e2e import audit

from kubectl_kres import api
from kubectl_kres.cli.main import entry

pytestmark = pytest.mark.e2e


def test_secrets_are_never_read(controlplane: Any, namespace: str, monkeypatch: Any, capsys: Any):
    for kind, name in (("secrets", "db"), ("configmaps", "settings")):
        body = {"metadata": {"name": name}, "data": {}}
        status, answer = controlplane.request("POST", f"/api/v1/namespaces/{namespace}/{kind}", body)
        assert status == 201, answer
    monkeypatch.setenv("KUBECONFIG", str(controlplane.kubeconfig))
    monkeypatch.setenv("KUBERC", "off")
    for words in command_lines(("-n", namespace)):
        monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-kres", *words])
        assert entry() != 70, (words, capsys.readouterr().err)
    cluster = api.open_cluster(kubeconfig=str(controlplane.kubeconfig), namespace=namespace)
    assert call_all(function_calls(cluster, namespace)) and call_all(tool_calls(cluster, namespace))
    requests = [uri for _, uri in audit.sent(audit.folder_of(controlplane)) if namespace in uri]
    assert requests and [uri for uri in requests if reads_contents(uri)] == []
