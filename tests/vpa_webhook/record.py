"""Record what the webhook of the vertical autoscaler makes of pods: see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import build  # noqa: E402
from controlplane import BASIC_CONTROLLERS, ControlPlane  # noqa: E402
from plane import HERE as FOLDER  # noqa: E402, the path is set above
from plane import install, play  # noqa: E402
from worlds import by_hand, by_lot  # noqa: E402

OUT = FOLDER / "recorded.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lot", type=int, default=260, help="how many worlds are drawn by lot")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    worlds = [*by_hand(), *by_lot(options.lot)]
    with ControlPlane(build.locate(), controllers=BASIC_CONTROLLERS, controller_args=["--kube-api-qps=200"]) as plane:
        install(plane)
        cases = list(play(plane, worlds))
        version = plane.request("GET", "/version")[1]["gitVersion"]
    head = json.dumps({"vpa": "v1.8.1", "server": {"version": version, "featureGates": {}}})[:-1]
    lines = ",\n".join(json.dumps(case) for case in cases)
    options.out.write_text(f'{head}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
