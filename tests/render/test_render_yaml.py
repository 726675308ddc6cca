"""Small documents as YAML lines: what is printed reads back, and each line knows its path."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubectl_kres.render.text.data import scalar, yaml_lines

#: Controls are replaced when a line is drawn; YAML has no way to write them but escapes.
printed = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff"))
odd = [
    "1",
    "1e3",
    "0x1",
    "yes",
    "null",
    "~",
    "1Gi",
    "0.5",
    "a: b",
    "#",
    "",
    "1_0",
    ".5",
    "=",
    "<<",
    "- z",
    "on",
    "1:30",
]
keys = texts = st.one_of(st.sampled_from([*odd, "cpu", "example.com/gpu", "日", "limits"]), printed)
scalars = st.one_of(texts, st.integers(), st.booleans(), st.none())
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=8,
)


def unlisted(value: object) -> object:
    """Without lists in lists, which Kubernetes does not have, and without empty maps in lists."""
    if isinstance(value, dict):
        return {key: unlisted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [unlisted(item) for item in value if not isinstance(item, list) and item != {}]
    return value


@given(st.dictionaries(keys, documents, max_size=4).map(unlisted))
def test_what_is_printed_reads_back(document):
    text = "\n".join(line for line, _ in yaml_lines(document))
    assert (yaml.safe_load(text) or {}) == document


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1", '"1"'), ("500m", "500m"), ("1Gi", "1Gi"), ("1e3", '"1e3"'), ("0.5", '"0.5"'), ("web-1", "web-1"),
        ("no", '"no"'), ("Null", '"Null"'), ("", '""'), ("a b", '"a b"'), ("a: b", '"a: b"'), (".5", '".5"'), (5, "5"),
        (True, "true"), (None, "null"), ("größe", '"größe"'), ("0x1f", '"0x1f"'), ("1E3", '"1E3"'), ("0o7", '"0o7"'),
        ("0b1", '"0b1"'), ("1_000", '"1_000"'), ("~", '"~"'), (".inf", '".inf"'), (".nan", '".nan"'), ("-", '"-"'),
    ],
)  # fmt: skip
def test_scalars(value, shown):
    assert scalar(value) == shown


def test_paths_are_those_of_the_server():
    document = {
        "metadata": {"annotations": {"a.b/c": "1"}},
        "spec": {
            "containers": [{"name": "app", "resources": {"limits": {"cpu": "1"}}}],
            "overhead": {"cpu": "1"},
            "resources": {},
        },
    }
    assert list(yaml_lines(document)) == [
        ("metadata:", "metadata"),
        ("  annotations:", "metadata.annotations"),
        ('    a.b/c: "1"', "metadata.annotations[a.b/c]"),
        ("spec:", "spec"),
        ("  containers:", "spec.containers"),
        ("  - name: app", "spec.containers[0].name"),
        ("    resources:", "spec.containers[0].resources"),
        ("      limits:", "spec.containers[0].resources.limits"),
        ('        cpu: "1"', "spec.containers[0].resources.limits[cpu]"),
        ("  overhead:", "spec.overhead"),
        ('    cpu: "1"', "spec.overhead[cpu]"),
        ("  resources: {}", "spec.resources"),
    ]
