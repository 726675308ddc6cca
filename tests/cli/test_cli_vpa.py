"""Files with a vertical autoscaler, through the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.running import Kres

FILE = Path(__file__).parents[2] / "docs" / "examples" / "vpa.yaml"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("explain --all", "LimitRange/limits spec.limits[0].max[cpu]"),
        ("explain", "VerticalPodAutoscaler/web-vpa recommends 2, cut to 500m"),
        ("diff", "500m"),
        ("qos", "Burstable"),
        ("quota -n shop --fit deploy/web", "2 more such pods fit"),
    ],
)
def test_all_of_them_know_it(kres: Kres, words: str, part: str) -> None:
    command, *flags = words.split()
    _, out, err = kres(f"{command} --offline -f {FILE} {' '.join(flags)}")
    assert part in out, err


def test_a_wrong_type_is_one_clear_line(kres: Kres, tmp_path: Path) -> None:
    file = tmp_path / "vpa.yaml"
    file.write_text(
        FILE.read_text().replace("containerRecommendations:", "containerRecommendations: much\n    others:")
    )
    code, out, err = kres(f"explain --offline -f {file}")
    assert code == 4
    assert out.startswith("admitted: shop/Deployment/web")
    assert err.splitlines()[0] == (
        f"error: {file}:18:31: VerticalPodAutoscaler/web-vpa: status.recommendation.containerRecommendations: "
        'invalid type: got "string", expected "array"'
    )


def test_values_name_their_source_in_json(kres: Kres) -> None:
    _, out, _ = kres(f"explain --offline -f {FILE} -o json")
    values = json.loads(out)["items"][0]["containers"][0]["values"]
    assert {value["rule"] for value in values} == {"vpa/limit-range-max", "vpa/limit-ratio", "vpa/target"}
    assert all(value["source"]["field"] for value in values)


def test_simulate_follows_it(kres: Kres) -> None:
    """As many pods as explain says, of the size that the autoscaler gives them; another recommendation lets all in."""
    words = f"simulate -n shop --offline -f {FILE}"
    code, out, err = kres(words)
    text = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "new: 2 of 3 pods" in text
    assert "requested: requests.cpu=500m, used: requests.cpu=1, limited: requests.cpu=1" in text
    assert "the status of the file is taken for what its recommender comes to" in text
    _, out, _ = kres(f"{words} --set vpa/web-vpa:status.recommendation.containerRecommendations[web].target.cpu=200m")
    assert "new: 3 of 3 pods" in out
