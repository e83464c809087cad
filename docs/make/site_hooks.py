"""What MkDocs does not do by itself: links to files of the repository, and notebooks as pages.

Pages link to files beside docs/, as a code host shows them. Such a file is copied into the site, below
repository/; a Markdown file or a notebook becomes a page.
"""

import json
import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s#]+)")
_IN_REPOSITORY = "repository/"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files that pages link to, and notebooks as pages."""
    for notebook in (file for file in [*files] if file.src_uri.endswith(".ipynb")):
        files.append(_made(_page_of(notebook.src_uri), _as_markdown(notebook), config))
    waiting = [file for file in files if file.is_documentation_page()]
    while waiting:
        for path in _linked(waiting.pop()):
            file = _copied(path, config)
            if files.get_file_from_path(file.src_uri) is None:
                files.append(file)
                if file.is_documentation_page():
                    waiting.append(file)
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links to where their files are on the site."""
    here = page.file.src_uri

    def moved(link: re.Match[str]) -> str:
        target = normpath(join(_folder(here), link[0]))
        on_site = _page_of(target).removeprefix("docs/")
        found = on_site if target.startswith("docs/") else _IN_REPOSITORY + target
        return relpath(found, dirname(here) or ".")

    return _LINK.sub(moved, markdown)


def _folder(page: str) -> str:
    """Where the source of a page lies in the repository."""
    if page.startswith(_IN_REPOSITORY):
        return dirname(page.removeprefix(_IN_REPOSITORY))
    return dirname(f"docs/{page}")


def _linked(page: File) -> list[str]:
    """Files beside docs/ that a page links to, by their path in the repository."""
    targets = [
        normpath(join(_folder(page.src_uri), link)) for link in _LINK.findall(page.content_string)
    ]
    return [path for path in targets if not path.startswith("docs/") and (_ROOT / path).is_file()]


def _copied(path: str, config: MkDocsConfig) -> File:
    """A file of the repository; it has no place in the navigation."""
    return File.generated(
        config,
        _IN_REPOSITORY + path,
        abs_src_path=str(_ROOT / path),
        inclusion=InclusionLevel.NOT_IN_NAV,
    )


def _made(uri: str, text: str, config: MkDocsConfig) -> File:
    return File.generated(config, uri, content=text)


def _page_of(path: str) -> str:
    """The page that is made of a notebook; other files are themselves."""
    return re.sub(r"\.ipynb$", ".md", path)


def _as_markdown(notebook: File) -> str:
    """The cells one after the other, and a link to the notebook itself."""
    cells = json.loads(notebook.content_string)["cells"]
    texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    blocks = [text if kind == "markdown" else f"```python\n{text}\n```" for kind, text in texts]
    return "\n\n".join(blocks)
