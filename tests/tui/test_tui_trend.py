"""How quotas went within the last hour: what was seen, no more."""

from __future__ import annotations

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.tui.session import KEPT, Sample, Trends

REF = ObjectRef("ResourceQuota", "team", "shop")


def seen(*samples: tuple[float, int | None], over: bool = False, hard: str = "4Gi") -> Trends:
    trends = Trends()
    for at, percent in samples:
        trends.note(REF, Sample(at, percent, over, (("requests.memory", hard),)))
    return trends


def test_nothing_changed_yet_is_no_trend():
    assert Trends().sparkline(REF, 0.0, 12, ascii_only=True) == ""
    assert seen((0.0, 50)).sparkline(REF, 10.0, 12, ascii_only=True) == ""


def test_what_was_not_seen_is_blank_and_the_last_one_holds_till_now():
    trends = seen((3000.0, 0), (3600.0, 100))
    assert trends.sparkline(REF, 3600.0, 4, ascii_only=True) == "   #"
    assert trends.sparkline(REF, 3900.0, 4, ascii_only=True) == "  _#"
    assert trends.sparkline(REF, 7200.0, 4, ascii_only=True) == "####"


def test_a_rise_is_a_rise():
    trends = seen(*((600.0 * step, 20 * step) for step in range(6)))
    drawn = trends.sparkline(REF, 3000.0, 6, ascii_only=False)
    assert list(drawn) == sorted(drawn)
    assert drawn[-1] == "█"


def test_over_hard_is_marked():
    trends = seen((0.0, 90))
    trends.note(REF, Sample(100.0, 120, True, (("requests.memory", "4Gi"),)))
    assert trends.sparkline(REF, 200.0, 2, ascii_only=False).endswith("!")


def test_what_is_older_than_an_hour_goes():
    trends = seen(*((60.0 * minute, minute % 100) for minute in range(300)))
    assert len(trends._samples[REF]) <= KEPT / 60 + 2


def test_changes_of_hard_the_latest_first():
    trends = seen((0.0, 50), hard="3Gi")
    trends.note(REF, Sample(60.0, 40, False, (("requests.memory", "4Gi"),)))
    trends.note(REF, Sample(120.0, 40, False, (("requests.memory", "4Gi"), ("pods", "10"))))
    assert list(trends.hard_changes(REF, 180.0)) == [
        (60.0, "pods", "", "10"),
        (120.0, "requests.memory", "3Gi", "4Gi"),
    ]


def test_a_quota_that_is_gone_is_forgotten():
    trends = seen((0.0, 50), (1.0, 60))
    trends.forget(REF)
    assert trends.sparkline(REF, 2.0, 12, ascii_only=True) == ""
