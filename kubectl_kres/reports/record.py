"""The base of all reports."""

from __future__ import annotations

from msgspec import Struct


class Record(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Base of all reports: camel case in JSON, what is empty left out."""
