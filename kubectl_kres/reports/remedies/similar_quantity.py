"""What a mistyped quantity probably meant."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.errors import QuantityError
from kubectl_kres.quantity import parse


def near(text: str) -> str:
    """What a mistyped quantity probably meant, the likelier first; empty if nothing close parses."""
    squeezed = text.replace(" ", "").replace("_", "").replace(",", ".")
    number = squeezed.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    suffix = squeezed[len(number) :]
    guesses: Mapping[str, tuple[str, ...]] = {
        "k": ("Ki", "k"), "kb": ("Ki", "k"), "kib": ("Ki",), "ki": ("Ki",),
        "mb": ("Mi", "M"), "mib": ("Mi",), "mi": ("Mi",), "gb": ("Gi", "G"), "gib": ("Gi",), "gi": ("Gi",),
        "g": ("Gi", "G"), "tb": ("Ti", "T"), "tib": ("Ti",), "ti": ("Ti",), "": ("",), "b": ("",), "cpu": ("",),
        "core": ("",), "cores": ("",), "millicores": ("m",), "mcpu": ("m",),
    }  # fmt: skip
    good = []
    for guess in guesses.get(suffix.lower(), ()):
        try:
            parse(f"{number}{guess}")
        except QuantityError:
            continue
        if number:
            good.append(f"{number}{guess}")
    return " or ".join(good)
