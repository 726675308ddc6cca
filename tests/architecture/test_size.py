"""No module is long: one concept each."""

from __future__ import annotations

import statistics
from collections import Counter

from architecture.modules import modules

CEILING = 600
FOLDER = 20


def test_no_module_is_over_the_ceiling(record_property):
    lines = {name: len(text.splitlines()) for name, text in modules().items()}
    longest = max(lines, key=lines.__getitem__)
    median = statistics.median(count for name, count in lines.items() if not name.endswith("__init__.py"))
    record_property("size", f"{len(lines)} modules, median {median:g} lines, longest {longest} with {lines[longest]}")
    assert {name: count for name, count in lines.items() if count > CEILING} == {}


def test_no_folder_is_a_corridor():
    """A folder with more modules than one can look over has folders inside."""
    counts = Counter(name.rpartition("/")[0] for name in modules() if not name.endswith("__init__.py"))
    assert {folder: count for folder, count in counts.items() if count > FOLDER} == {}
