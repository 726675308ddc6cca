"""``kubectl_kres.api`` with the official client: its objects, and a cluster that is read with its login."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from api.test_api import DEFAULTS, NGINX, POD, assert_each_answer_reads_anew
from cli.apiserver import Api, deployment, pod

import kubectl_kres.api as kres
from kubectl_kres.api.question import to_plain_data
from kubectl_kres.api.testing import assert_admitted
from kubectl_kres.errors import Forbidden, Unreachable

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns when it is imported
    kubernetes = pytest.importorskip("kubernetes.client", reason="`make test-all` installs the official client")

pytestmark = pytest.mark.thorough
MODEL = kubernetes.V1Pod(
    api_version="v1",
    kind="Pod",
    metadata=kubernetes.V1ObjectMeta(name="web", creation_timestamp=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
    spec=kubernetes.V1PodSpec(
        containers=[
            kubernetes.V1Container(
                name="app", image="x", resources=kubernetes.V1ResourceRequirements(limits={"memory": "1Gi"})
            )
        ]
    ),
)


def test_its_models_are_objects():
    assert to_plain_data(MODEL)["spec"] == POD["spec"]
    answers = (kres.explain(item, policies=[DEFAULTS]).to_dict() for item in (MODEL, POD))
    assert next(answers)["containers"] == next(answers)["containers"]


def test_models_are_what_the_client_sends():
    client = kubernetes.ApiClient()
    assert to_plain_data(MODEL) == client.sanitize_for_serialization(MODEL) | {
        "metadata": {"name": "web", "creationTimestamp": "2026-01-02T03:04:05Z"}
    }
    model = _model(client, "V1Pod", yaml.safe_load(NGINX.read_text()))
    assert to_plain_data(model) == client.sanitize_for_serialization(model)
    ranges = _model(client, "V1LimitRange", DEFAULTS)
    assert kres.explain(MODEL, policies=[ranges]).values["app.limits.cpu"].set_by == "LimitRange/defaults"


def _model(client: Any, name: str, data: Any) -> Any:
    return client._ApiClient__deserialize(data, name)


def client_of(url: str, token: str = "") -> Any:
    configuration = kubernetes.Configuration()
    configuration.host = url
    if token:
        configuration.api_key["authorization"] = f"Bearer {token}"
    return kubernetes.ApiClient(configuration)


def test_a_cluster(api: Api):
    api.objects += [deployment("web", "2Gi"), pod("old", "1Gi")]
    cluster = kres.open_cluster(client_of(api.url), namespace="shop")
    assert api.asked == []
    assert_each_answer_reads_anew(api, cluster)


def test_through_a_client_the_answers_are_the_same(api: Api):
    api.objects += [deployment("web", "2Gi"), pod("old", "1Gi")]
    ours, theirs = kres.open_cluster(namespace="shop"), kres.open_cluster(client_of(api.url), namespace="shop")
    assert kres.explain("deploy/web", cluster=ours).to_dict() == kres.explain("deploy/web", cluster=theirs).to_dict()


def test_the_login_of_a_client_is_used(api: Api):
    seen: list[str] = []
    cluster = kres.open_cluster(client_of(api.url, "right"), namespace="shop")
    api.before = lambda _path: None
    api.RequestHandlerClass = type(
        "Noting",
        (api.RequestHandlerClass,),
        {"do_GET": lambda self: (seen.append(self.headers.get("Authorization", "")), api_get(self))[1]},
    )
    api_get = api.RequestHandlerClass.__mro__[1].do_GET
    kres.explain(POD, cluster=cluster)
    assert seen and set(seen) == {"Bearer right"}


def test_what_a_client_may_not_read(api: Api):
    api.denied = {"resourcequotas"}
    cluster = kres.open_cluster(client_of(api.url), namespace="shop")
    answer = kres.explain(POD, cluster=cluster)
    assert (answer.complete, answer.outcome) == (False, "admitted-as-far-as-seen")
    assert 'User "eve" cannot list resource "resourcequotas"' in answer.missing[0]
    with pytest.raises(AssertionError, match="not read: resourcequotas is forbidden"):
        assert_admitted(POD, cluster=cluster)
    with pytest.raises(Forbidden):
        kres.quota(cluster)


def test_a_client_without_a_server():
    cluster = kres.open_cluster(client_of("http://127.0.0.1:1"), request_timeout=5)
    with pytest.raises(Unreachable):
        kres.explain(POD, cluster=cluster)
