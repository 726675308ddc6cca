"""Whatever breaks, and in whatever order: the store ends as a fresh list has it."""

from __future__ import annotations

from cluster.following import following
from cluster.living import Cluster, Fault, living
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_kres.store.coverage import Need

PODS, QUOTAS = Need("Pod"), Need("ResourceQuota", "a")

FAULTS = st.builds(
    Fault,
    st.sampled_from(["drop", "html", "cut", "garbage", "end", "gone", "busy", "part", "again", "nonsense"]),
    st.integers(0, 60),
    st.sampled_from(["", "list", "watch"]),
) | st.builds(Fault, st.just("status"), st.sampled_from([401, 410, 429, 500, 502, 503, 504]))
#: What takes a moment each time.
SLOW = st.builds(Fault, st.sampled_from(["silent", "mute"]), st.integers(0, 3), st.just("watch"))

NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
STEPS = st.tuples(
    st.sampled_from(["put", "put", "put", "delete", "compact", "disconnect", "drain"]),
    st.sampled_from(["pods", "resourcequotas"]),
    st.sampled_from(["a", "b"]),
    NAMES,
)


def change(cluster: Cluster, step: tuple[str, str, str, str]) -> None:
    what, *key = step
    if what in {"put", "delete"}:
        getattr(cluster, what)(*key)
    elif what != "drain":
        getattr(cluster, what)()


@settings(max_examples=60, deadline=None)
@given(
    first=st.lists(STEPS, max_size=15),
    then=st.lists(STEPS, max_size=25),
    faults=st.lists(FAULTS, max_size=12),
    slow=st.lists(SLOW, max_size=1),
    inconsistent=st.booleans(),
)
def test_the_store_ends_as_a_fresh_list(first, then, faults, slow, inconsistent):
    with living() as cluster:
        for step in first:
            change(cluster, step)
        cluster.inconsistent = inconsistent
        cluster.faults.extend(faults + slow)
        with following(cluster, PODS, QUOTAS) as follower:
            for step in then:
                change(cluster, step)
                follower.drain()
            # Faults that nothing calls forth any more are over.
            follower.until(lambda: follower.phases() == {"watching"})
            cluster.faults.clear()
            follower.until(lambda: follower.as_fresh([PODS, QUOTAS]))
