"""The command line's server and settings."""

from __future__ import annotations

from cli.conftest import api, nowhere
