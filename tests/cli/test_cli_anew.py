"""What of a list is told again by ``-w``."""

from __future__ import annotations

import pytest

from kubectl_kres.cli.anew import anew

TABLE = "STATE   CLAIM\nqueued  a/b\n    closed by others\nin use  a/c\n2 claims: 1 in use, 1 queued\n"
COLORED = TABLE.replace("queued", "\x1b[33mqueued\x1b[0m").replace("    closed", "\x1b[2m    closed")
SHOP = "quota team in shop\n  NAME  USED\n  pods  1\n\n  pods by workload\n    Pod/a  1\n"
QUOTAS = f"{SHOP}\nquota team in far\n  pods  2\n"


@pytest.mark.parametrize(
    ("before", "now", "new"),
    [
        (TABLE, TABLE, ""),
        (TABLE, TABLE.replace("STATE ", "STATE    ").replace("a/b", "  a/b"), ""),
        (TABLE, TABLE.replace("in use  a/c", "lost    a/c"), "STATE   CLAIM\nlost    a/c\n"),
        (TABLE, TABLE.replace("by others", "by one"), "STATE   CLAIM\nqueued  a/b\n    closed by one\n"),
        ("", TABLE, TABLE),
        (TABLE, "", ""),
        (TABLE, "STATE   CLAIM\nin use  a/c\n1 claim: 1 in use\n", "STATE   CLAIM\n1 claim: 1 in use\n"),
        (TABLE, COLORED, ""),
        (QUOTAS, QUOTAS.replace("  2", "  3"), "quota team in far\n  pods  3\n"),
        (QUOTAS, QUOTAS.replace("Pod/a", "Pod/b"), SHOP.replace("/a", "/b")),
        ("a 1\nb 2\n", "a 1\nb 3\n", "b 3\n"),
    ],
)
def test_only_what_the_list_before_lacks_is_told(before: str, now: str, new: str) -> None:
    assert anew(before, now) == new
