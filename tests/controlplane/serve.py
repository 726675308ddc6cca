#!/usr/bin/env python3
"""A control plane with the demo's objects, to try commands on: prints what to type, and stays until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import build
import make_demo
from controlplane import StartError, heed_sigterm, stay
from make_demo import DemoError, Kube


def main() -> int:
    parser = argparse.ArgumentParser(description="A control plane with the demo's objects, until Ctrl-C.")
    parser.add_argument("--next", default="kubectl kres --help", help="the command to propose")
    options = parser.parse_args()
    heed_sigterm()
    try:
        assets = build.complete()
        kubectl = build.kubectl(assets)
        with make_demo.control_plane(assets) as plane:
            with Kube(kubectl, plane.kubeconfig) as kube:
                make_demo.apply_all(kube)
            print("\nIn another terminal:\n")
            print(f"  export KUBECONFIG={plane.kubeconfig} PATH={Path(sys.executable).parent}:{kubectl.parent}:$PATH")
            print(f"  {options.next}\n\nCtrl-C here ends the cluster.", flush=True)
            stay(plane, watch_stdin=False)
    except KeyboardInterrupt:
        print()
        return 0
    except (StartError, build.NoBinaryError, DemoError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
