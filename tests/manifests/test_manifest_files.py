"""Which files ``-f`` names, and what it says of those it cannot read."""

import io
import os
import sys

import pytest

from kubectl_kres.errors import InputError
from kubectl_kres.manifests import read as files
from kubectl_kres.manifests.read import read

POD = "kind: Pod\nmetadata: {name: %s}\n"


def names(*paths, recursive=False, stdin=b""):
    return [m.ref.name for m in read([str(path) for path in paths], recursive=recursive, stdin=io.BytesIO(stdin))]


@pytest.fixture
def tree(tmp_path):
    for name in ("b.yaml", "a.yml", "c.json", "d.txt", "b/x.yaml", "b/y/z.yml", "e.YAML", ".f.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(POD % name.replace("/", "-").replace(".", "-").lower())
    return tmp_path


def test_a_directory_sorted_and_by_extension(tree):
    assert names(tree) == ["-f-yaml", "a-yml", "b-yaml", "c-json"]


def test_directories_below_with_recursive(tree):
    assert names(tree, recursive=True) == ["-f-yaml", "a-yml", "b-x-yaml", "b-y-z-yml", "b-yaml", "c-json"]


def test_several_arguments_keep_their_order_and_count_once(tree):
    given = names(tree / "c.json", "-", tree / "d.txt", "-", tree / "c.json", stdin=(POD % "in").encode())
    assert given == ["c-json", "in", "d-txt"]


def test_a_pattern_that_the_shell_left_alone(tree):
    assert names(f"{tree}/*.y*ml") == ["a-yml", "b-yaml"]


def test_links(tree):
    (tree / "b" / "loop").symlink_to(tree)
    (tree / "b" / "link.yaml").symlink_to(tree / "d.txt")
    (tree / "b" / "dir.yaml").symlink_to(tree)
    (tree / "top").symlink_to(tree / "b")
    assert names(tree / "top", recursive=True) == ["d-txt", "b-x-yaml", "b-y-z-yml"]


REFUSED = {
    "missing": ("none.yaml", "none.yaml: the path does not exist"),
    "pattern": ("*.none", "*.none: the path does not exist"),
    "address": ("https://x/y.yaml", "https://x/y.yaml: addresses are not read; download the file and pass its path"),
    "nothing to read": ("empty", "empty: no file here has a recognized extension [.json .yaml .yml]"),
    "dangling link": ("dangling.yaml", "dangling.yaml: cannot be read: No such file or directory"),
    "circle": ("circle.yaml", "circle.yaml: cannot be read: Too many levels of symbolic links"),
    "no text": ("blank.yaml", "blank.yaml: holds no objects"),
}


@pytest.mark.parametrize(("path", "message"), REFUSED.values(), ids=REFUSED)
def test_one_line_for_what_cannot_be_read(tmp_path, monkeypatch, path, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "dangling.yaml").symlink_to("none")
    (tmp_path / "circle.yaml").symlink_to("circle.yaml")
    (tmp_path / "blank.yaml").touch()
    with pytest.raises(InputError) as refused:
        names(path)
    assert refused.value.message == message


def test_the_hint_for_a_directory_of_directories(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(InputError) as refused:
        names(tmp_path)
    assert refused.value.hint == "-R also reads the directories below it"
    with pytest.raises(InputError) as refused:
        names(tmp_path, recursive=True)
    assert refused.value.hint == ""


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_unreadable(tree):
    (tree / "a.yml").chmod(0)
    with pytest.raises(InputError, match=r"a\.yml: cannot be read: Permission denied"):
        names(tree / "a.yml")


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_errors_of_the_system_are_told(tree, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(files.os, "scandir", fail)
    with pytest.raises(InputError, match=f"cannot be read: {error.strerror}"):
        names(tree)
    monkeypatch.setattr(files, "content", fail)
    with pytest.raises(InputError, match=rf"a\.yml: cannot be read: {error.strerror}"):
        names(tree / "a.yml")


def test_too_large(tree, monkeypatch):
    monkeypatch.setattr(files, "LARGEST", 1 << 20)
    (tree / "big.yaml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InputError, match=r"big\.yaml: is larger than 1 MiB"):
        names(tree / "big.yaml")
    with pytest.raises(InputError, match="STDIN: is larger than 1 MiB"):
        names("-", stdin=b"#" * ((1 << 20) + 1))


def test_a_pipe_is_read(tree):
    reading, writing = os.pipe()
    os.write(writing, (POD % "piped").encode())
    os.close(writing)
    try:
        assert names(f"/dev/fd/{reading}") == ["piped"]
    finally:
        os.close(reading)
