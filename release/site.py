"""The pages of the site: docs/, and from outside that folder pictures, and pages that GitHub looks for elsewhere.

python -m release.site    puts them into build/pages, from which `make docs` makes the site
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from release import names

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"

#: Files outside docs/ that pages link to, by the folder or file that they stand in.
_BROUGHT = ("screenshots", "integrations/README.md", "CONTRIBUTING.md", "SECURITY.md")
_OUTSIDE = re.compile(r"\]\((?:\.\./)+((?:screenshots/|integrations/|CONTRIBUTING|SECURITY)[^)]*)\)")

_LINK = re.compile(r"\[(?P<words>[^\]]*)\]\((?!https?:|#)(?P<to>[^)]*)\)")


def gather(pages: Path = PAGES) -> None:
    """Make the folder anew, with every page and picture of the site."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages)
    for name in _BROUGHT:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, pages / name)
        else:
            (pages / name).parent.mkdir(exist_ok=True)
            (pages / name).write_text(links_as_text(place.read_text(encoding="utf-8")), encoding="utf-8")
    for path in pages.rglob("*.md"):
        page = path.relative_to(pages).as_posix()
        path.write_text(with_links(path.read_text(encoding="utf-8"), page), encoding="utf-8")


def links_as_text(text: str) -> str:
    """A page from outside docs/, with links to files of the repository that are no pages as their words alone."""
    pages = re.sub(r"\]\((?:\.\./)?docs/([^)]*)\)", r"](\1)", text)
    return _LINK.sub(lambda link: link[0] if link["to"].partition("#")[0].endswith(".md") else link["words"], pages)


def with_links(text: str, page: str) -> str:
    """The text of a page, with links to what was brought along as they are from where the page stands."""
    up = "../" * page.count("/")
    text = _OUTSIDE.sub(lambda match: f"]({up}{match[1]})", text)
    if page.startswith("integrations/"):
        text = re.sub(r"\]\((agents|ci)\.md\)", r"](../\1.md)", text)
    return with_address(text, names.address())


def with_address(text: str, address: str) -> str:
    """The text with the address of the project in the place of the one that stands for it; as it is without one."""
    if not address:
        return text
    path = address.removeprefix("https://").partition("/")[2]
    named = text.replace("https://github.com/OWNER/kubectl-kres", address)
    return named.replace("OWNER/kubectl-kres", path).replace("OWNER/REPOSITORY", path)


if __name__ == "__main__":
    gather()
