"""Documents of every form that ``-f`` takes, their faults and where those are."""

import io
import json

import pytest
import yaml
from examples import examples
from hypothesis import HealthCheck
from hypothesis import given as with_any
from hypothesis import strategies as st

from kubectl_kres.documents import yaml_text
from kubectl_kres.errors import InputError, InputErrors
from kubectl_kres.manifests.manifest import Manifest, first_lines
from kubectl_kres.manifests.read import LISTED, read


def given(text, *more):
    data = text if isinstance(text, bytes) else text.encode()
    return read(["-", *more], recursive=False, stdin=io.BytesIO(data))


def pod(name):
    return f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}}}"


def jpod(name):
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}})


CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"
NAMES = {
    "one": (f"# c\n{pod('a')}", ["a"]),
    "several": (f"---\n---\n# c\n---\n{pod('a')}\n---\n{pod('b')}\n--- # said\n{pod('c')}\n", ["a", "b", "c"]),
    "end marks": (f"kind: A\nmetadata: {{name: a}}\n...\n---\n{pod('b')}", ["a", "b"]),
    "null": (f"null\n---\n~\n---\n{pod('a')}", ["a"]),
    "bom": (b"\xef\xbb\xbf" + pod("a").encode(), ["a"]),
    "json bom": (b"\xef\xbb\xbf" + jpod("a").encode(), ["a"]),
    "crlf": (f"kind: A\r\nmetadata:\r\n  name: a\r\n---\r\n{pod('b')}\r\n", ["a", "b"]),
    "json": (jpod("a"), ["a"]),
    "json stream": (f"{jpod('a')}\n{jpod('b')}{jpod('c')}\n", ["a", "b", "c"]),
    "json documents": (f"{jpod('a')}\n---\n{jpod('b')}\n---\n{pod('c')}", ["a", "b", "c"]),
    "json with a comma too many": ('{"kind": "A", "metadata": {"name": "a",},}', ["a"]),
    "json with tabs": (f"\n\t{jpod('a')}\t\n", ["a"]),
    "list": (f"kind: List\nitems:\n- {pod('a')}\n- {pod('b')}\n", ["a", "b"]),
    "nested list": (f"kind: List\nitems:\n- kind: List\n  items: [{pod('a')}]\n- {pod('b')}\n", ["a", "b"]),
    "typed list": ("apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: a}}]", ["a"]),
    "empty list": (f"kind: List\nitems: []\n---\nkind: List\nitems:\n---\n{pod('a')}", ["a"]),
    "a kind that only ends in List": ("kind: AccessList\nmetadata: {name: a}", ["a"]),
    "generateName": ("kind: Pod\nmetadata: {generateName: a-}", ["a-"]),
}


@pytest.mark.parametrize(("text", "names"), NAMES.values(), ids=NAMES)
def test_objects_in_order(text, names):
    assert [manifest.ref.name for manifest in given(text)] == names


def test_items_take_kind_and_version_from_their_list():
    (manifest,) = given("apiVersion: apps/v1\nkind: DeploymentList\nitems: [{metadata: {name: a}}]")
    assert (manifest.kind, manifest.api_version) == ("Deployment", "apps/v1")


def test_documents_are_counted():
    assert [manifest.index for manifest in given(f"{pod('a')}\n---\n\n---\n{pod('b')}")] == [0, 1]


DATA = {
    "1: x": {"1": "x"},
    "yes: x": {"true": "x"},
    "1.50: x": {"1.5": "x"},
    "a: &x {p: 1}\nb: {<<: *x, q: 2}": {"a": {"p": 1}, "b": {"p": 1, "q": 2}},
    "a: &x {p: 1, q: 2}\nb: {q: 3, <<: *x}": {"a": {"p": 1, "q": 2}, "b": {"q": 2, "p": 1}},
    "a: &x {p: 1}\nb: {<<: *x, p: 2}": {"a": {"p": 1}, "b": {"p": 2}},
    "a: &x {p: 1}\nb: &y {p: 2, r: 5}\nc: {<<: [*x, *y]}": {
        "a": {"p": 1},
        "b": {"p": 2, "r": 5},
        "c": {"p": 1, "r": 5},
    },
    "'<<': {a: 1}": {"<<": {"a": 1}},
    "a: &x k\n*x : 1": {"a": "k", "k": 1},
    "a: |\n  x\n  y": {"a": "x\ny\n"},
    'a: "\\u263a 😀"': {"a": "☺ 😀"},
}


@pytest.mark.parametrize(("text", "data"), DATA.items())
def test_maps(text, data):
    (manifest,) = given(CONFIG + "\n".join("  " + line for line in text.split("\n")))
    assert manifest.raw["data"] == data


FAULTS = {
    "null key": (CONFIG + "  ~: 1\n", "5:3: a key must be text, not null"),
    "list key": (CONFIG + "  ? [a]\n  : 1\n", "5:5: a key must be text, not a map or a list"),
    "alias key": ("a: &x [1]\n*x : 1\n", "2:1: a key must be text, not a map or a list"),
    "infinite": (CONFIG + "  a: .inf\n", "5:6: .inf is a number that JSON does not have; quote it if it is text"),
    "bad merge": (CONFIG + "  <<: 5\n", "5:7: map merge requires map or sequence of maps as the value"),
    "no anchor": (CONFIG + "  a: *zz\n", "5:6: unknown anchor 'zz' referenced"),
    "loop": (CONFIG + "  a: &x [*x]\n", "5:10: anchor 'x' value contains itself"),
    "two in one": ("kind: A\n...\nkind: B\n", "3:1: did not find expected <document start>"),
    "separator": (f"{pod('a')}\n--- {pod('b')}\n", f"2:4: invalid document separator: ---{pod('b')[:40]}"),
    "scalar": ("foo\n", "1:1: an object was expected, not a string"),
    "list": ("# c\n\n- a\n", "3:1: an object was expected, not a list"),
    "no kind": (f"{pod('a')}\n---\n# c\nmetadata: {{}}\n", "4:1: Object 'Kind' is missing"),
    "kind of a wrong type": ("kind: 5\n", "1:7: Object 'Kind' is missing"),
    "no name": ("kind: Pod\nmetadata:\n  namespace: x\n", "3:3: Pod without a name: metadata.name may not be empty"),
    "no metadata": ("kind: Pod\n", "1:1: Pod without a name: metadata.name may not be empty"),
    "name": ("kind: Pod\nmetadata: {name: 5}\n", "2:18: metadata.name: a string was expected, not a number"),
    "namespace": (
        "kind: P\nmetadata: {name: a, namespace: 1.5}",
        "2:32: metadata.namespace: a string was expected, not a number",
    ),
    "metadata": ("kind: Pod\nmetadata: [1]\n", "2:11: metadata: an object was expected, not a list"),
    "items": ("kind: List\nitems: {}\n", "2:8: items: a list was expected, not an object"),
    "item": (
        "kind: List\nitems:\n- kind: A\n  metadata: {name: a}\n- 1\n",
        "5:3: an object was expected, not a number",
    ),
    "JSON of a typed list": ('{"kind": "PodList",\n "items": [true]}', "2:12: an object was expected, not a boolean"),
    "JSON syntax": ('{"kind": "A",\n"metadata": {,,}}', "2:14: expecting property name enclosed in double quotes"),
    "JSON cut off": ('{"kind": "A",\n"metadata": {}', "2:15: expecting ',' delimiter"),
    "JSON syntax of the third": (
        '{"kind": "List", "items": []}\n' * 2 + "{]",
        "3:2: expecting property name enclosed in double quotes",
    ),
    "JSON number": ('{"a": "1e999",\n"b": 1e999}', "2:6: number 1e999 is out of range"),
    "flow syntax": ("{kind: A,\nmetadata: {,,}}", "2:12: did not find expected node content"),
    "not a number": ('{"a": "NaN",\n"b": [NaN}', "2:7: NaN is no JSON"),
    "tab": (CONFIG + "\ta: 1\n", "5:1: found character that cannot start any token"),
    "syntax in the second": (
        f"{pod('a')}\n---\nkind: A\nb: c: d\n",
        "4:5: mapping values are not allowed in this context",
    ),
    "control character": (CONFIG + '  a: "\x01"\n', "5:7: control characters are not allowed: U+0001"),
    "not UTF-8": (CONFIG.encode() + "  ä: ".encode() + b"\xff", "5:6: byte 0xff is not UTF-8"),
    "UTF-16 cut off": (CONFIG.encode("utf-16") + b"x", "1:1: begins as UTF-16, but is not"),
    "deep": (CONFIG + "  a: " + "[" * 100_000, "5:504: nested deeper than 500 levels"),
    "deep JSON": ('{"a":' * 600 + "1" + "}" * 600, "1:1: nested deeper than 500 levels"),
    "deeper JSON": ('{"a":' * 100_000, "1:1: nested deeper than 500 levels"),
    "empty": ("", " holds no objects"),
    "only comments": ("# c\n---\n# d\n", " holds no objects"),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_has_one_line_with_its_place(text, message):
    with pytest.raises(InputError) as refused:
        given(text)
    assert refused.value.message == f"STDIN:{message}"
    assert not isinstance(refused.value, InputErrors)


TWICE = {
    "twice": (CONFIG + "  cpu: 1\n  b: 2\n  cpu: 3\n", "7:3", "cpu", {"cpu": 3, "b": 2}),
    "as text": (CONFIG + "  1: 1\n  '1': 2\n", "6:3", "1", {"1": 2}),
    "in JSON": ('{"kind": "A", "metadata": {"name": "b"},\n"data": {"a": 1,\n"a": 2}}', "3:1", "a", {"a": 2}),
    "in an outer object": (
        '{"kind": "A", "metadata": {"name": "b"}, "data": {"c": [{}]},\n "data": {"d": 1}}',
        "2:2", "data", {"d": 1},
    ),
    "a whole map": (CONFIG + "  a: 1\ndata: {b: 2}\n", "6:1", "data", {"b": 2}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "at", "key", "data"), TWICE.values(), ids=TWICE)
def test_of_a_key_given_twice_the_last_one_counts_as_in_kubectl(text, at, key, data):
    notes = []
    (manifest,) = read(["-"], recursive=False, stdin=io.BytesIO(text.encode()), notes=notes)
    assert manifest.raw["data"] == data
    said = f'STDIN:{at}: key "{key}" is given twice: as in kubectl, the last one counts'
    assert [note.message for note in notes] == [said]


@pytest.mark.parametrize("code", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_read_where_a_mark_says_so(code):
    text = "\ufeff" + "\r\n---\r\n".join(CONFIG.replace("\n", "\r\n") + f"  a: é{name}" for name in "xy")
    found = read(["-"], recursive=False, stdin=io.BytesIO(text.encode(code)))
    assert [one.raw["data"]["a"] for one in found] == ["éx", "éy"]


def test_one_unusable_document_leaves_the_others(tmp_path):
    (tmp_path / "kustomization.yaml").write_text("kind: Kustomization\nresources: [a.yaml]\n")
    (tmp_path / "a.yaml").write_text(f"{pod('a')}\n---\nb: c: d\n---\n{pod('b')}\n")
    faults = []
    found = read([str(tmp_path)], recursive=False, stdin=io.BytesIO(), faults=faults)
    assert [one.ref.name for one in found] == ["a", "b"]
    assert [fault.message for fault in faults] == [
        f"{tmp_path}/a.yaml:3:5: mapping values are not allowed in this context",
        f"{tmp_path}/kustomization.yaml:1:1: Kustomization without a name: metadata.name may not be empty",
    ]


def test_faults_are_located_only_when_they_are_shown(monkeypatch):
    """Locating reads the text again: of a thousand faults no more than LISTED are."""
    located = []
    monkeypatch.setattr(Manifest, "position", lambda self, path=(): located.append(path) or (1, 1))
    text = "kind: List\nitems:\n" + "- kind: Pod\n" * 1000
    with pytest.raises(InputErrors) as refused:
        given(text)
    assert located == []
    assert refused.value.message.count("\n") == LISTED - 1
    assert (len(located), refused.value.more) == (LISTED, 1000 - LISTED)


def test_every_fault_is_told_at_once(tmp_path):
    (tmp_path / "a.yaml").write_text("kind: A\n---\nb: c: d\n---\nmetadata: {}\n")
    with pytest.raises(InputErrors) as refused:
        given("[]", str(tmp_path / "a.yaml"), str(tmp_path / "none"))
    path = tmp_path / "a.yaml"
    assert refused.value.message.splitlines() == [
        "STDIN:1:1: an object was expected, not a list",
        f"{path}:1:1: A without a name: metadata.name may not be empty",
        f"{path}:3:5: mapping values are not allowed in this context",
        f"{path}:5:1: Object 'Kind' is missing",
        f"{tmp_path / 'none'}: the path does not exist",
    ]
    assert (refused.value.file, refused.value.line, len(refused.value.errors)) == ("STDIN", 1, 5)
    assert str(refused.value) == refused.value.message


def test_only_so_many_faults_are_told():
    with pytest.raises(InputErrors) as refused:
        given("---\n[]\n" * 100)
    assert len(refused.value.errors) == LISTED


def laughs(anchors, wide):
    rows = ["a0: &a0 [x, x]"]
    rows += [f"a{row}: &a{row} [{', '.join([f'*a{row - 1}'] * wide)}]" for row in range(1, anchors)]
    return "\n".join(rows)


def test_aliases_do_not_explode():
    with pytest.raises(InputError, match=r"STDIN:7:\d+: aliases make this document larger than 1000000 values"):
        given(laughs(12, 10))


def test_aliases_do_not_nest_without_end():
    with pytest.raises(InputError, match="nested deeper than 500 levels"):
        given(laughs(600, 1))


def test_aliases_within_reason_are_fine():
    (manifest,) = given(f"kind: A\nmetadata: {{name: a}}\n{laughs(4, 4)}")
    assert len(manifest.raw["a3"]) == 4


def test_halves_of_surrogate_pairs_become_replacement_characters():
    (manifest,) = given('{"kind":"A","metadata":{"name":"a"},"d":["\\ud83d\\ude00","x\\ud800y", 1.5],"\\udc00":1}')
    assert manifest.raw["d"] == ["😀", "x\ufffdy", "1.5"]
    assert "\ufffd" in manifest.raw


TEXT = """\
# said before
apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
  - name: app
    resources:
      limits: &limits
        cpu: 1
        "memory": 1Gi
  - name: b
    resources: {limits: *limits, "requests": {cpu: 5}}
"""
PLACES = [
    ((), (2, 1)),
    (("kind",), (3, 7)),
    (("spec", "containers", 0, "name"), (8, 11)),
    (("spec", "containers", 0, "resources", "limits", "cpu"), (11, 14)),
    (("spec", "containers", 0, "resources", "limits", "memory"), (12, 19)),
    (("spec", "containers", 1, "resources", "limits", "cpu"), (14, 25)),
    (("spec", "containers", 1, "resources", "requests", "cpu"), (14, 52)),
    (("spec", "containers", 2, "resources"), (8, 3)),
    (("status", "phase"), (2, 1)),
]


@pytest.mark.parametrize(("path", "place"), PLACES)
@pytest.mark.parametrize("before", [0, 3])
def test_places_in_yaml(path, place, before):
    manifest = given("kind: X\nmetadata: {name: x}\n---\n" * (before // 3) + TEXT)[-1]
    assert manifest.position(path) == (place[0] + before, place[1])


def test_places_in_a_list_begin_at_the_item():
    text = f"kind: List\nitems:\n- {pod('x')}\n- " + TEXT.replace("\n", "\n  ")
    assert given(text)[1].position(("spec", "containers", 0, "name")) == (11, 13)


def test_places_in_json():
    text = '\n{"kind":"List","items":[1.5e3,\n' + json.dumps(yaml.safe_load(TEXT)) + "]}"
    with pytest.raises(InputError, match="STDIN:2:25: an object was expected, not a number"):
        given(text)
    first = '{"kind": "X", "metadata": {"name": "x"}} '
    text = first + json.dumps(yaml.safe_load(TEXT), indent=2)
    manifest = given(text)[1]
    for path, (row, _) in PLACES[1:6]:
        line, column = manifest.position(path)
        found = text.splitlines()[line - 1][column - 1 :]
        step = yaml.safe_load(TEXT)
        for key in path:
            step = step[key]
        assert found.startswith(json.dumps(step)[:1]), (path, row)
        assert found.rstrip(",") == json.dumps(step) or isinstance(step, dict)
    assert manifest.position() == (1, len(first) + 1)
    assert manifest.position(("nothing", 3)) == manifest.position()


def test_an_object_from_nowhere_has_no_place():
    (manifest,) = given(pod("a"))
    assert type(manifest)({"kind": "Pod"}).position(("kind",)) == (0, 0)


def test_without_the_c_parser_the_answer_is_the_same(monkeypatch):
    before = given(TEXT)
    monkeypatch.setattr(yaml_text, "_LOADER", yaml.SafeLoader)
    assert [manifest.raw for manifest in given(TEXT)] == [manifest.raw for manifest in before]
    assert given(TEXT)[0].position(("kind",)) == (3, 7)
    with pytest.raises(InputError, match=r"STDIN:4:5: mapping values are not allowed here"):
        given(f"{pod('a')}\n---\nkind: A\nb: c: d\n")
    with pytest.raises(InputError, match=r"STDIN:5:7: special characters are not allowed: U\+0001"):
        given(CONFIG + '  a: "\x01"\n')


PIECES = [
    *(
        "kind: A\n",
        "metadata: ",
        "{name: a}",
        "\n",
        "  ",
        "- ",
        "---\n",
        "...",
        "# ",
        "&x ",
        "*x",
        "<<: ",
        "{",
        "}",
        "[",
        "]",
    ),
    *(
        ": ",
        ", ",
        '"',
        "'",
        "|",
        "!!int ",
        "!",
        "1e9",
        "0x",
        "~",
        "\t",
        "\r\n",
        "\x00",
        "\ufeff",
        "\u2028",
        "%YAML 1.1\n",
    ),
    *('{"kind":"A","metadata":{"name":"a"}}', '{"a":', "1e999", "NaN", "\\ud800", "\x85", "? ", "@", "é"),
]


WHOLE = ['{"kind":"A","metadata":{"name":"a"}}', "kind: A\napiVersion: v1\nmetadata: {name: a}", "# nothing\n"]
DOCUMENTS = st.lists(st.sampled_from([*WHOLE, *WHOLE, *PIECES]), max_size=3).map("\n---\n".join)


@with_any(st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | DOCUMENTS | st.binary(max_size=40))
@examples(300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_read_or_refused_with_its_place(text):
    data = text if isinstance(text, bytes) else text.encode()
    try:
        manifests = read(["-"], recursive=False, stdin=io.BytesIO(data))
    except InputErrors as error:
        assert len(error.message.splitlines()) >= len(error.errors) > 1
    except InputError as error:
        assert error.message.startswith("STDIN:")
    else:
        for manifest in manifests:
            line, column = manifest.position(("metadata", "name"))
            assert line >= 1
            assert column >= 1


@pytest.mark.parametrize(
    ("text", "hinted"),
    [
        ('{{- include "labels" . }}\nkind: Pod\n', True),
        (CONFIG + "  a: {{ .Values.a }}\n", True),
        (CONFIG + "  {{- range .Values.all }}\n  a: b\n  {{- end }}\n", True),
        ("# {{ rendered }}\nkind: A\nb: c: d\n", False),
    ],
)
def test_a_template_that_nobody_rendered_is_called_one(text: str, hinted: bool):
    with pytest.raises(InputError) as refused:
        given(text)
    assert ("helm template" in refused.value.hint) is hinted


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_the_first_lines_of_all_are_those_of_each(form):
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{index}"}} for index in range(3)]
    inner = {"apiVersion": "v1", "kind": "List", "items": pods[1:]}
    whole = {"apiVersion": "v1", "kind": "List", "items": [pods[0], inner, pods[2]]}
    texts = [json.dumps(one, indent=1) if form == "json" else yaml.safe_dump(one) for one in (whole, pods[0])]
    manifests = given(("" if form == "json" else "---\n").join(f"{text}\n" for text in texts))
    assert len(manifests) == 5
    lines = first_lines(manifests)
    assert lines == [manifest.position()[0] for manifest in manifests]
    assert len(set(lines)) == 5


def test_an_object_from_no_text_has_no_line():
    assert first_lines([Manifest({"kind": "Pod"}), *given(TEXT)]) == [0, *(one.position()[0] for one in given(TEXT))]
