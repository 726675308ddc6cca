import pytest

from kubectl_kres.cluster.transport.duration import seconds
from kubectl_kres.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0.0),
        ("0", 0.0),
        ("0s", 0.0),
        ("5", 5.0),
        ("+5", 5.0),
        ("007", 7.0),
        ("500ms", 0.5),
        ("1m30s", 90.0),
        ("1.5h", 5400.0),
        (".5s", 0.5),
        ("1.s", 1.0),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("10ns", 1e-8),
        ("2h3m4s", 7384.0),
        ("-1s", 0.0),
        ("+1s", 1.0),
    ],
)
def test_durations_are_read_as_kubectl_reads_them(text, expected):
    assert seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["x", "1x", "1 s", "s", ".s", "-5", "1_000", "1s2", "--1s", "٣", "1d", " 1", "1S", "\n5"]
)
def test_what_kubectl_refuses_is_refused_in_its_words(text):
    with pytest.raises(UsageError) as caught:
        seconds(text)
    assert caught.value.message == (
        "Invalid timeout value. Timeout must be a single integer in seconds, "
        "or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
    )
    assert caught.value.exit_code == 2
