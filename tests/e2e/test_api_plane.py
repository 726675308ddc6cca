"""``kubectl_kres.api`` on a real server, through the official client, held against the server's own dry run."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import kubectl_kres.api as kres
from kubectl_kres.api.testing import assert_admitted

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns when it is imported
    from kubernetes import client, config

pytestmark = pytest.mark.e2e

LIMITS = {
    "metadata": {"name": "limits"},
    "spec": {"limits": [{"type": "Container", "default": {"memory": "512Mi"}, "max": {"memory": "1Gi"}}]},
}
QUOTA = {"metadata": {"name": "team"}, "spec": {"hard": {"requests.memory": "768Mi"}}}


def model(memory: str = "") -> Any:
    resources = client.V1ResourceRequirements(limits={"memory": memory}) if memory else None
    return client.V1Pod(
        api_version="v1",
        kind="Pod",
        metadata=client.V1ObjectMeta(name="web"),
        spec=client.V1PodSpec(containers=[client.V1Container(name="app", image="i", resources=resources)]),
    )


@pytest.fixture
def api_client(controlplane: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return config.new_client_from_config(str(controlplane.kubeconfig))


@pytest.mark.parametrize("memory", ["", "256Mi", "800Mi", "2Gi"])
def test_through_the_official_client(controlplane: Any, namespace: str, api_client: Any, memory: str):
    core = client.CoreV1Api(api_client)
    core.create_namespaced_limit_range(namespace, LIMITS)
    quota = core.create_namespaced_resource_quota(namespace, QUOTA)
    # Its controller sets the status; until then nothing is enforced.
    quota.status = client.V1ResourceQuotaStatus(hard={"requests.memory": "768Mi"}, used={"requests.memory": "0"})
    core.patch_namespaced_resource_quota_status("team", namespace, {"status": quota.status.to_dict()})
    cluster = kres.open_cluster(api_client, namespace=namespace)
    answer = kres.explain(model(memory), cluster=cluster)
    assert answer.complete
    ours = kres.open_cluster(kubeconfig=str(controlplane.kubeconfig), namespace=namespace)
    assert kres.explain(model(memory), cluster=ours).to_dict() == answer.to_dict()
    try:
        stored = core.create_namespaced_pod(namespace, model(memory), dry_run="All")
    except client.ApiException as refused:
        assert answer.admitted is False
        assert answer.refusal.split("forbidden: ")[1] in refused.body.replace("\\", "")
        with pytest.raises(AssertionError):
            assert_admitted(model(memory), cluster=cluster)
        return
    assert answer.admitted is True
    resources = stored.spec.containers[0].resources
    for side, values in (("limits", resources.limits), ("requests", resources.requests)):
        assert answer.values[f"app.{side}.memory"].value == values["memory"]
    assert_admitted(model(memory), cluster=cluster)
    assert [quota.report.subject.name for quota in kres.quota(cluster)] == ["team"]
