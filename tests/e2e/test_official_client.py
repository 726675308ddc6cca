"""The official Python client reads the same pods as we do."""

import warnings

import pytest

from kubectl_kres.cluster.connection import connect
from kubectl_kres.cluster.kubeconfig.current_context import ConnectOptions, load
from kubectl_kres.cluster.read.fill_store import fill
from kubectl_kres.store.store import Origin, ReadRequest, Store

pytestmark = pytest.mark.e2e

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "two"},
    "spec": {
        "initContainers": [{"name": "side", "image": "i", "restartPolicy": "Always"}],
        "containers": [
            {"name": "a", "image": "i", "resources": {"limits": {"cpu": "0.5", "memory": "1Gi"}}},
            {"name": "b", "image": "i", "resources": {"requests": {"memory": "1500k"}}},
        ],
    },
}


def connect_with_client(kubeconfig, namespace):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from kubernetes import client, config  # noqa: PLC0415, it warns when it is imported

        config.load_kube_config(str(kubeconfig))
        pods = client.CoreV1Api().list_namespaced_pod(namespace).items
        return {
            (pod.metadata.name, one.name): (one.resources.limits, one.resources.requests)
            for pod in pods
            for one in (*pod.spec.containers, *(pod.spec.init_containers or ()))
            if one.resources
        }


def of_ours(kubeconfig, namespace):
    options = ConnectOptions(kubeconfig=str(kubeconfig))
    store = Store(Origin("cluster"))
    with connect(load(options), options) as connection:
        fill(connection, store, [ReadRequest("Pod", namespace)])
    return {
        (pod.metadata.name, one.name): (one.resources.limits, one.resources.requests)
        for pod in store.all("Pod", namespace)
        for one in (*pod.spec.containers, *(pod.spec.init_containers or ()))
        if one.resources
    }


def test_both_read_the_same(controlplane, namespace):
    status, answer = controlplane.request("POST", f"/api/v1/namespaces/{namespace}/pods", POD)
    assert status == 201, answer
    theirs = connect_with_client(controlplane.kubeconfig, namespace)
    assert theirs == of_ours(controlplane.kubeconfig, namespace)
    assert theirs["two", "a"][1] == {"cpu": "500m", "memory": "1Gi"}
