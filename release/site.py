"""What the site of docs/ takes from outside that folder: pictures, and pages that GitHub looks for elsewhere.

mkdocs loads this file by its path (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

#: Files outside docs/ that pages link to, by the folder or file that they stand in.
_BROUGHT = ("screenshots", "integrations/README.md", "CONTRIBUTING.md", "SECURITY.md")
_OUTSIDE = re.compile(r"\]\((?:\.\./)+((?:screenshots/|integrations/|CONTRIBUTING|SECURITY)[^)]*)\)")

_LINK = re.compile(r"\[(?P<words>[^\]]*)\]\((?!https?:|#)(?P<to>[^)]*)\)")


def on_files(files: Any, config: Any) -> Any:
    """Adds what is brought along."""
    from mkdocs.structure.files import File  # noqa: PLC0415, only where a site is made

    for name in _BROUGHT:
        place = ROOT / name
        for path in sorted(place.iterdir()) if place.is_dir() else [place]:
            inner = path.relative_to(ROOT).as_posix()
            content = path.read_text(encoding="utf-8") if path.suffix == ".md" else path.read_bytes()
            if path.suffix == ".md":
                content = _links_as_text(str(content))
            files.append(File.generated(config, inner, content=content))
    return files


def _links_as_text(text: str) -> str:
    """Links to files of the repository that are no pages, as their words alone."""
    pages = re.sub(r"\]\((?:\.\./)?docs/([^)]*)\)", r"](\1)", text)
    return _LINK.sub(lambda link: link[0] if link["to"].partition("#")[0].endswith(".md") else link["words"], pages)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to what was brought along, from where the page stands."""
    up = "../" * page.file.src_uri.count("/")
    found = _OUTSIDE.sub(lambda match: f"]({up}{match[1]})", markdown)
    if page.file.src_uri.startswith("integrations/"):
        found = re.sub(r"\]\((agents|ci)\.md\)", r"](../\1.md)", found)
    return found
