"""Keys of content: equal for equal content alone, also of what no JSON of a server holds."""

from __future__ import annotations

import pytest
from msgspec import Struct

from kubectl_kres.model.content_key import content_key


class _Pair(Struct):
    name: str
    amounts: dict[str, object]


@pytest.mark.parametrize("value", ["x", "\ud800", 10**40, -(2**70), 1e300, None, [1, {"a": None}]])
def test_equal_content_has_one_key_and_other_content_another(value):
    key = content_key(_Pair("a", {"cpu": value}))
    assert key == content_key(_Pair("a", {"cpu": value}))
    assert key not in {content_key(_Pair("b", {"cpu": value})), content_key(_Pair("a", {"cpu": [value]}))}
