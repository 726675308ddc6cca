from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.store.store import Changes, ReadRequest

REFS = [ObjectRef("Pod", name, "a") for name in "abc"]
STEPS = st.lists(st.tuples(st.sampled_from(REFS), st.booleans()), max_size=20)


@given(there=st.sets(st.sampled_from(REFS)), steps=STEPS)
def test_each_object_is_told_once_by_how_it_ends(there, steps):
    changes, now, touched = Changes(), set(there), set()
    for ref, put in steps:
        if put:
            changes.put(ref, new=ref not in now)
            now.add(ref)
            touched.add(ref)
        elif ref in now:
            changes.take(ref)
            now.discard(ref)
            touched.add(ref)
    assert set(changes.added) == now - there
    assert set(changes.removed) == there - now
    assert set(changes.changed) == now & there & touched
    assert bool(changes) == bool(changes.kinds)


def test_needs_count():
    changes = Changes()
    assert not changes
    changes.reads[ReadRequest("Node")] = None
    assert changes
    assert changes.kinds == {"Node"}
