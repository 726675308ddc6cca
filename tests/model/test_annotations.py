"""What is decoded has annotations that are evaluated already: a start need not compile the text of each."""

from __future__ import annotations

import sys

from msgspec import Struct

from kubectl_kres.model.kinds import KINDS


def test_structs_of_objects_have_no_texts_as_annotations():
    structs = [struct for kind in KINDS for struct in (kind.struct, kind.whole) if struct is not None]
    names = {each.__module__ for struct in structs for each in struct.__mro__ if issubclass(each, Struct)} - {"msgspec"}
    found = [
        f"{name}.{each.__name__}"
        for name in names
        for each in vars(sys.modules[name]).values()
        if isinstance(each, type) and issubclass(each, Struct) and each.__module__ == name
        if any(isinstance(annotation, str) for annotation in each.__annotations__.values())
    ]
    assert len(names) > 5
    assert found == []
