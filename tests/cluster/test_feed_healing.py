"""Whatever breaks, and in whatever order: the store ends as a fresh list has it."""

from __future__ import annotations

from cluster.following import following
from cluster.living import Cluster, Fault, living
from examples import examples
from hypothesis import Phase, given
from hypothesis import strategies as st

from kubectl_kres.store.store import ReadRequest

PODS, LIMITS = ReadRequest("Pod"), ReadRequest("LimitRange", "a")

#: What one request of any kind, a list, a watch meets with.
FAULTS = st.one_of(
    st.builds(Fault, st.sampled_from(["drop", "html", "cut"]), st.integers(0, 900)),
    st.builds(Fault, st.just("status"), st.sampled_from([401, 410, 429, 500, 502, 503, 504])),
    st.builds(Fault, st.sampled_from(["garbage", "meanwhile"]), st.integers(0, 30), st.just("list")),
    st.builds(
        Fault,
        st.sampled_from(["end", "gone", "busy", "part", "again", "nonsense"]),
        st.integers(0, 4),
        st.just("watch"),
    ),
)
#: What takes a moment each time.
SLOW = st.builds(Fault, st.sampled_from(["silent", "mute"]), st.integers(0, 3), st.just("watch"))

#: ``lapse``: an object goes while nobody watches, and nobody will be told.
STEPS = st.tuples(
    st.sampled_from(["put", "put", "change", "delete", "compact", "forget", "disconnect", "lapse", "drain", "settle"]),
    st.integers(0, 99),
)


def change(cluster: Cluster, step: tuple[str, int]) -> None:
    what, number = step
    keys = sorted(cluster.objects)
    if what == "put":
        cluster.put("pods" if number % 3 else "limitranges", "ab"[number % 2], f"n{number}")
    elif what in {"compact", "forget", "disconnect"}:
        getattr(cluster, what)()
    elif what in {"change", "delete", "lapse"} and keys:
        key = keys[number % len(keys)]
        (cluster.put if what == "change" else cluster.delete)(*key)
    if what == "lapse":
        cluster.forget()
        cluster.disconnect()


@examples(60, deadline=None, phases=[Phase.generate])
@given(
    first=st.lists(st.integers(0, 99), max_size=12),
    then=st.lists(STEPS, max_size=20),
    faults=st.lists(FAULTS, max_size=12),
    slow=st.lists(SLOW, max_size=1),
    inconsistent=st.booleans(),
)
def test_the_store_ends_as_a_fresh_list(first, then, faults, slow, inconsistent):
    with living() as cluster:
        for number in first:
            change(cluster, ("put", number))
        cluster.inconsistent = inconsistent
        cluster.faults.extend(faults + slow)
        with following(cluster, PODS, LIMITS) as follower:
            for step in then:
                change(cluster, step)
                follower.drain()
                if step[0] == "settle":
                    follower.until(lambda: follower.phases() == {"watching"})
            follower.until(lambda: follower.phases() == {"watching"})
            cluster.faults.clear()
            follower.until(lambda: follower.as_fresh([PODS, LIMITS]))
