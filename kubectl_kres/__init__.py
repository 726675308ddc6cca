"""Explains what sets the requests and limits of pods: which rule, of which object."""

__version__ = "0.1.0"

#: The page of the project, as https://github.com/OWNER/kubectl-kres. Its address belongs here and nowhere else; no
#: release is made without it.
REPOSITORY = ""

#: Where bugs are reported.
ISSUES = f"{REPOSITORY}/issues" if REPOSITORY else "the project's issue page"


def page_address(page: str) -> str:
    """Return where a page of the documentation is; while the project has no address its path."""
    return f"{REPOSITORY}/blob/main/{page}" if REPOSITORY else page
