"""The fixtures of the command line."""

from __future__ import annotations

from cli.conftest import kres, nowhere
