"""A server that notes what it is asked."""

from __future__ import annotations

from cli.conftest import api, kres, nowhere
