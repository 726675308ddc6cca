"""What a feed reads, how it says how it goes on, and what it does not do."""

from __future__ import annotations

import itertools
import json
import threading
from itertools import product

import pytest
from cluster.following import contents, following
from cluster.living import Cluster, Fast, Fault, living

from kubectl_kres.cluster.watch import event_queue
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.pod import ManagedPod, Pod
from kubectl_kres.store.store import READ, LeftOut, ReadRequest, partly_read

PODS, OURS = ReadRequest("Pod"), ReadRequest("Pod", "a")
WEB = ReadRequest("Pod", "a", "web")
THERE = ReadRequest("Pod", "b")
LABELLED = ReadRequest("Pod", "a", label_selector="app=web")


@pytest.fixture
def cluster():
    with living() as one:
        yield one


def ref(name, namespace="a", kind="Pod"):
    return ObjectRef(kind, name, namespace)


def lists(cluster: Cluster) -> int:
    return sum(verb == "list" for verb, _ in cluster.asked)


def names(follower, kind="Pod"):
    return [one.metadata.name for one in follower.store.all(kind)]


def test_a_list_then_what_changes(cluster: Cluster):
    for number in range(7):
        cluster.put("pods", "a", f"p{number}")
    with following(cluster, PODS) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        assert len(names(follower)) == 7
        assert follower.store.coverages() == {PODS: READ}
        follower.drained.clear()
        cluster.put("pods", "a", "p1")
        cluster.put("pods", "a", "new")
        cluster.delete("pods", "a", "p0")
        follower.until(lambda: sum(len(one.removed) for one in follower.drained) == 1)
        for sort, name in (("added", "new"), ("changed", "p1"), ("removed", "p0")):
            assert [one for changes in follower.drained for one in getattr(changes, sort)] == [ref(name)]
        assert follower.drained[-1].kinds == {"Pod"}
        assert follower.as_fresh([PODS])
    # Three pages of three, and one watch.
    assert [verb for verb, _ in cluster.asked].count("watch") == 1


def test_a_quiet_watch_is_taken_up_where_it_ended(cluster: Cluster):
    with following(cluster, PODS, silence=0.05) as follower:
        follower.until(lambda: [verb for verb, _ in cluster.asked].count("watch") > 3)
        cluster.put("pods", "a", "late")
        follower.until(lambda: names(follower) == ["late"])
    assert [verb for verb, _ in cluster.asked].count("list") == 1


def test_what_vanished_while_nobody_watched_is_gone_and_nothing_flickers(cluster: Cluster):
    for number in range(7):
        cluster.put("pods", "a", f"p{number}")
    with following(cluster, PODS) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        follower.drained.clear()
        with cluster.news:
            cluster.delete("pods", "a", "p3")
            cluster.put("pods", "a", "p4")
            cluster.forget()
            cluster.history.clear()
            cluster.disconnect()
        follower.until(lambda: any(one.removed for one in follower.drained))
        touched = [item for one in follower.drained for item in (*one.added, *one.changed, *one.removed)]
        assert touched == [ref("p4"), ref("p3")]
        assert follower.as_fresh([PODS])


def test_events_that_come_twice_do_not_bring_back_what_has_gone(cluster: Cluster):
    cluster.put("pods", "a", "gone")
    cluster.put("pods", "a", "web")
    cluster.delete("pods", "a", "gone")
    cluster.faults.append(Fault("again", 0, "watch"))
    with following(cluster, PODS) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        cluster.put("pods", "a", "last")
        follower.until(lambda: "last" in names(follower))
        assert names(follower) == ["last", "web"]
        assert not any(ref("gone") in [*one.added, *one.changed, *one.removed] for one in follower.drained)


def test_what_nobody_wants_any_more_leaves(cluster: Cluster):
    for namespace in "ab":
        cluster.put("pods", namespace, "web", metadata={"labels": {"app": "web"}})
        cluster.put("pods", namespace, "db")
    with following(cluster, PODS, LABELLED) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        assert len(names(follower)) == 4
        follower.feed.request_reads([LABELLED])
        follower.until(lambda: len(names(follower)) == 1)
        assert follower.store.coverages() == {LABELLED: READ}
        cluster.put("pods", "a", "web")
        # Without its label it leaves the selection: for this need it is gone.
        cluster.delete("pods", "a", "web")
        follower.until(lambda: not names(follower))
        follower.feed.request_reads([])
        follower.until(lambda: not follower.feed.states())
        assert follower.store.coverages() == {}


def test_a_list_that_was_just_left_is_not_read_again(cluster: Cluster):
    """It is up to date when somebody comes back, and gone a minute after nobody did."""
    cluster.put("pods", "a", "web")
    with following(cluster, PODS, THERE, linger=60.0) as follower:
        now = follower.feed.clock.now()
        follower.feed.clock.now = lambda: now
        follower.until(lambda: follower.phases() == {"watching"})
        before = lists(cluster)
        follower.feed.request_reads([THERE])
        cluster.put("pods", "a", "new")
        follower.until(lambda: names(follower) == ["new", "web"])
        assert set(follower.feed.states()) == {THERE}
        follower.feed.request_reads([PODS])
        follower.until(lambda: follower.phases() == {"watching"})
        assert names(follower) == ["new", "web"]
        follower.feed.request_reads([THERE])
        now += 59
        follower.drain()
        assert names(follower) == ["new", "web"]
        now += 2
        follower.until(lambda: not names(follower))
        assert follower.store.coverages() == {THERE: READ}
        assert lists(cluster) == before


def test_what_lingers_tells_too_that_the_server_answers(cluster: Cluster):
    """While it does the server is not asked, and what is shown is as fresh as that."""
    with following(cluster, PODS, THERE, linger=60.0) as follower:
        now = follower.feed.clock.now()
        follower.feed.clock.now = lambda: now
        follower.until(lambda: follower.phases() == {"watching"})
        follower.feed.request_reads([THERE])
        now += 9
        cluster.put("pods", "a", "new")
        follower.until(lambda: names(follower) == ["new"])
        assert follower.feed.states()[THERE].answered_at == now


def test_what_is_to_be_read_again_does_not_linger(cluster: Cluster):
    cluster.put("pods", "a", "web")
    with following(cluster, PODS, linger=60.0) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        follower.feed.stop()
        follower.until(lambda: not names(follower))
        assert follower.store.coverages() == {}


def test_needs_may_overlap(cluster: Cluster):
    cluster.put("pods", "a", "web", metadata={"labels": {"app": "web"}, "managedFields": [{"manager": "me"}]})
    with following(cluster, PODS, WEB, LABELLED) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        assert type(follower.store.get("Pod", "web", "a")) is ManagedPod
        follower.feed.request_reads([PODS])
        # What is left has less detail once it changes.
        follower.until(lambda: set(follower.store.coverages()) == {PODS})
        cluster.put("pods", "a", "web")
        follower.until(lambda: type(follower.store.get("Pod", "web", "a")) is Pod)
        cluster.delete("pods", "a", "web")
        follower.until(lambda: not names(follower))


@pytest.mark.parametrize("need", [PODS, OURS, WEB, LABELLED], ids=["all", "namespace", "name", "label"])
def test_what_was_read_before_and_went_before_the_first_list_goes(cluster: Cluster, need: ReadRequest):
    for name in ("web", "db"):
        cluster.put("pods", "a", name, metadata={"labels": {"app": "web"}})
    with following(cluster) as follower:
        follower.store = follower.fresh(need)
        cluster.delete("pods", "a", "web")
        follower.feed.request_reads([need])
        follower.until(lambda: follower.phases() == {"watching"})
        follower.until(lambda: follower.as_fresh([need]))
        assert ref("web") in follower.drained[0].removed


KINDS = ("pods", "tasks", "things")
STATE = {"readable": "watching", "forbidden": "denied", "absent": "absent"}


@pytest.mark.parametrize("rights", product(STATE, repeat=3), ids="-".join)
def test_every_combination_of_rights(cluster: Cluster, rights):
    """What may be read is read, what may not says so in the server's words; neither hinders the other."""
    needs = (PODS, ReadRequest("Task"), ReadRequest("Thing"))
    # What every server has is never absent: that it cannot be found is a fault that passes.
    phases = [
        "retrying" if (need, right) == (PODS, "absent") else STATE[right]
        for need, right in zip(needs, rights, strict=True)
    ]
    states = {"watching": "read", "denied": "denied", "absent": "absent", "retrying": "failed"}
    for plural, right in zip(KINDS, rights, strict=True):
        cluster.put(plural, "a", "one")
        if right == "absent":
            cluster.served.discard(plural)
        if right == "forbidden":
            cluster.denied |= {("list", plural, ""), ("watch", plural, "")}
    with following(cluster, *needs) as follower:
        follower.until(lambda: len(follower.store.coverages()) == 3)
        follower.until(lambda: [follower.state(need).phase for need in needs] == phases)
        assert follower.as_fresh(needs)
        for need, phase in zip(needs, phases, strict=True):
            covered = follower.store.covered(need)
            assert covered.state == states[phase]
            assert covered.message == ("" if phase == "watching" else follower.state(need).reason)


@pytest.mark.parametrize("allowed", [(), ("a",), ("b",), ("a", "b")], ids=str)
def test_single_namespaces_are_read_if_all_may_not(cluster: Cluster, allowed):
    for namespace in "abc":
        cluster.put("pods", namespace, "web")
    verbs = ("list", "watch")
    cluster.denied = {(verb, "pods", one) for verb in verbs for one in ("", *({"a", "b"} - set(allowed)))}
    with following(cluster, PODS, namespaces=("a", "b")) as follower:
        follower.until(lambda: len(follower.store.coverages()) == 3)
        assert [one.metadata.namespace for one in follower.store.all("Pod")] == list(allowed)
        assert follower.store.covered(PODS).state == "denied"
        for one in "ab":
            assert follower.store.covered(ReadRequest("Pod", one)).state == ("read" if one in allowed else "denied")
        # Rights that come later are found out, and then all are read again.
        with cluster.news:
            cluster.denied.clear()
        follower.until(lambda: len(names(follower)) == 3 and follower.store.coverages() == {PODS: READ})
        assert follower.as_fresh([PODS])


def test_a_kind_that_comes_and_goes(cluster: Cluster):
    """A CRD is installed, and removed."""
    things = ReadRequest("Thing")
    cluster.served.discard("things")
    with following(cluster, things) as follower:
        follower.until(lambda: follower.phases() == {"absent"})
        cluster.put("things", "a", "one")
        cluster.served.add("things")
        follower.until(lambda: names(follower, "Thing") == ["one"])
        cluster.served.discard("things")
        cluster.disconnect()
        follower.until(lambda: follower.store.covered(things).state == "absent")
        assert names(follower, "Thing") == []


def test_a_kind_that_cannot_be_watched_is_listed_again(cluster: Cluster):
    cluster.denied = {("watch", "pods", "")}
    with following(cluster, PODS) as follower:
        follower.until(lambda: follower.phases() == {"polling"})
        assert "cannot watch" in follower.state(PODS).reason
        cluster.put("pods", "a", "web")
        follower.until(lambda: names(follower) == ["web"])
        assert follower.store.covered(PODS) == READ


def test_an_object_that_may_be_got_but_not_listed(cluster: Cluster):
    cluster.put("pods", "a", "web")
    cluster.denied = {("list", "pods", "a"), ("watch", "pods", "a")}
    with following(cluster, WEB) as follower:
        follower.until(lambda: follower.phases() == {"polling"})
        assert follower.store.covered(WEB) == READ
        cluster.delete("pods", "a", "web")
        follower.until(lambda: not names(follower))


def test_an_object_of_the_wrong_form_is_named_and_costs_only_itself(cluster: Cluster):
    cluster.put("pods", "a", "bad", spec=3)
    cluster.put("pods", "a", "good")
    with following(cluster, PODS) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        assert names(follower) == ["good"]
        fault = "pods a/bad: Expected `object`, got `int` - at `$.spec`"
        assert follower.store.covered(PODS) == partly_read([LeftOut(fault, "a", "bad")])
        assert follower.store.covered(ReadRequest("Pod", "b")) == READ
        cluster.put("pods", "a", "good", spec={"containers": 1})
        follower.until(lambda: names(follower) == [])
        assert follower.store.covered(PODS).message.startswith(f"{fault}; pods a/good: ")
        cluster.delete("pods", "a", "bad")
        cluster.put("pods", "a", "good")
        follower.until(lambda: names(follower) == ["good"])
        assert follower.store.covered(PODS) == READ


def test_how_it_goes_on_is_told(cluster: Cluster):
    class Still(Fast):
        """Nothing is tried again before the test says so."""

        go = threading.Event()

        def now(self):
            return 7.0

        def wait(self, over, seconds):
            self.go.wait(30)
            self.go.clear()
            return over.is_set()

    clock = Still()
    cluster.put("pods", "a", "web")
    cluster.faults += [Fault("status", 500), Fault("html"), Fault("garbage", 9, "list"), Fault("silent", on="watch")]
    with following(cluster, PODS, clock=clock) as follower:
        for phase, tries, why in (
            ("retrying", 1, "it is 500"),
            ("failed", 2, "the server answered 200 with text/html, not JSON"),
            ("failed", 3, "the list of pods could not be decoded: "),
        ):
            follower.until(lambda: follower.phases() == {phase} and follower.state(PODS).attempts == tries)  # noqa: B023
            assert follower.state(PODS).reason.startswith(why)
            assert follower.state(PODS).next_try == 7.0 + 0.4 * 2**tries
            assert not follower.state(PODS).has_objects
            assert follower.store.covered(PODS).state == "failed"
            clock.go.set()
        follower.until(lambda: follower.phases() == {"retrying"} and follower.state(PODS).attempts == 4)
        # The list has come; its objects stay while the watch is tried again.
        assert follower.state(PODS).has_objects
        assert names(follower) == ["web"]
        assert follower.store.covered(PODS) == READ
        clock.go.set()
        follower.until(lambda: follower.phases() == {"watching"})
        clock.go.set()


def test_memory_is_bounded_by_waiting(cluster: Cluster, monkeypatch):
    monkeypatch.setattr(event_queue, "FULL", 5)
    for number in range(40):
        cluster.put("pods", "a", f"p{number}")
    with following(cluster, PODS) as follower:
        box = follower.feed._inbox
        while box._weight < 5:
            assert follower.state(PODS).phase != "watching"
        assert box._weight <= 8
        follower.until(lambda: len(names(follower)) == 40)


def test_no_more_than_asked_is_put_into_the_store_at_once(cluster: Cluster):
    for number in range(20):
        cluster.put("pods", "a", f"p{number}")
    with following(cluster, PODS) as follower:
        follower.feed.drain(follower.store)
        while follower.feed.states()[PODS].phase != "watching":
            pass
        first = follower.feed.drain(follower.store, maximum=4)
        assert len(first.added) <= 6
        follower.until(lambda: len(names(follower)) == 20)


def test_what_takes_long_goes_on_at_the_next_drain(cluster: Cluster, monkeypatch):
    for number in range(20):
        cluster.put("pods", "a", f"p{number}")
    with following(cluster, PODS) as follower:
        while follower.feed.states()[PODS].phase != "watching":
            pass
        seconds = itertools.count()
        monkeypatch.setattr("kubectl_kres.cluster.watch.feed.monotonic", lambda: next(seconds))
        first = follower.feed.drain(follower.store)
        assert 0 < len(first.added) < 20
        follower.until(lambda: len(names(follower)) == 20)


def test_an_object_of_ten_megabytes(cluster: Cluster):
    cluster.put("pods", "a", "web")
    with following(cluster, PODS) as follower:
        follower.until(lambda: follower.phases() == {"watching"})
        cluster.put("pods", "a", "web", metadata={"annotations": {"blob": "x" * (10 << 20)}})
        follower.until(lambda: (follower.store.get("Pod", "web", "a").metadata.annotations or {}).get("blob"))
        assert contents(follower.store) == contents(follower.fresh(PODS))


def test_a_mistake_of_ours_is_raised_where_the_feed_is_drained(cluster: Cluster, monkeypatch):
    monkeypatch.setattr("kubectl_kres.cluster.watch.need_reader.read_list_pages", lambda *_: json.loads(""))
    with following(cluster, PODS) as follower, pytest.raises(json.JSONDecodeError):
        follower.until(lambda: False)
