"""``quota`` says so where Capsule's quotas, which stand beside the answer, may not be read."""

from __future__ import annotations

from cli.apiserver import Api
from cli.running import Kres

TEAM = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team", "namespace": "shop"}, "spec": {}}


def test_where_there_are_no_other_quotas(kres: Kres, api: Api):
    api.objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    api.denied = {"globalresourcequotas", "customquotas"}
    code, out, err = kres("quota -n shop")
    assert (code, out) == (0, "")
    assert "not checked (no permission): CustomQuota, GlobalResourceQuota" in err


def test_where_nothing_shows_that_capsule_is_there(kres: Kres, api: Api):
    """Nobody is asked, so nothing is missing."""
    api.denied = {"globalresourcequotas", "customquotas"}
    api.objects.append(TEAM)
    code, _, err = kres("quota -n shop")
    assert (code, err) == (0, "")
    assert not any("quotas" in path and "/resourcequotas" not in path for path in api.asked)


def test_where_a_quota_is_one_of_capsules(kres: Kres, api: Api):
    api.denied = {"globalcustomquotas"}
    labelled = {**TEAM["metadata"], "labels": {"projectcapsule.dev/pool": "blue"}}  # type: ignore[dict-item]
    api.objects.append({**TEAM, "metadata": labelled})
    for words in ("quota -n shop", "quota -A"):
        code, _, err = kres(words)
        assert code == 0 and 'cannot list resource "globalcustomquotas"' in err
