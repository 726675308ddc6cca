"""Decoders are built one at a time: side by side they crash the interpreter (seen in one of twenty runs)."""

from __future__ import annotations

import msgspec

from kubectl_kres.cluster.read import lists
from kubectl_kres.cluster.watch.feed import Feed
from kubectl_kres.model import kinds


def test_a_decoder_is_built_under_a_lock(monkeypatch):
    held = []
    monkeypatch.setattr(msgspec.json, "Decoder", lambda *_, **__: held.append(lists.DESCRIBING.locked()))
    for _ in range(2):
        lists.decoder(msgspec.defstruct("Fresh", []))
    assert held == [True, True]
    assert not lists.DESCRIBING.locked()


def test_all_structs_are_known_before_a_feed_has_threads(monkeypatch, connection):
    known, decoder = [], msgspec.json.Decoder
    monkeypatch.setattr(
        msgspec.json, "Decoder", lambda struct, **flags: known.append(struct) or decoder(struct, **flags)
    )
    Feed(connection).close()
    assert {kind.struct for kind in kinds.KINDS} | {kinds.BY_KIND["Pod"].whole} <= set(known)
