"""Hooks of MkDocs: pages that link to files of the repository find them in the site.

A link that leads out of `docs/` to a file of the repository gets a page: a Markdown file as it is, any other as a listing.
What is linked and is not there stays as it is, and MkDocs, told to be strict, ends with an error. Guides that the navigation does not name come at
the end of theirs, and the generated pages of commands below the list of commands.
"""

import os
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# Rustdoc's pages, where `cargo doc` has made them.
RUSTDOC = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target", "doc")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)
OUTSIDE = "repository/"
LANGUAGES = {".rs": "rust", ".py": "python", ".toml": "toml", ".json": "json", ".sh": "sh"}


def links(text: str) -> list["re.Match[str]"]:
    """The links of a text that are not code."""
    code = [(found.start(), found.end()) for found in CODE.finditer(text)]
    return [
        link
        for link in LINK.finditer(text)
        if not any(start <= link.start() < end for start, end in code)
    ]


def origin(uri: str) -> str:
    """Where a page of the site stands in the repository."""
    return uri.removeprefix(OUTSIDE).removesuffix(".listing.md") if uri.startswith(OUTSIDE) else f"docs/{uri}"


def target(page: str, link: str) -> str | None:
    """The repository's file to which a link on a page leads; nothing for an address, an anchor or no file."""
    path = link.partition("#")[0]
    if not path or re.match(r"[a-z]+:", path):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin(page)), path))
    if (ROOT / path).is_dir():
        path = posixpath.join(path, "README.md")
    return path if not path.startswith("..") and (ROOT / path).is_file() else None


def uri(file: str) -> str:
    """Where a file of the repository stands in the site."""
    if file.startswith("docs/"):
        return file.removeprefix("docs/")
    return OUTSIDE + (file if file.endswith(".md") else f"{file}.listing.md")


def listing(file: str) -> str:
    """A file that is no Markdown, as a page."""
    language = LANGUAGES.get(Path(file).suffix, "text")
    return f"# {file}\n\n````{language}\n{(ROOT / file).read_text()}````\n"


def rustdoc() -> str:
    """A sentence with links to rustdoc's pages where they stand beside this site, as `scripts/docs` copies them."""
    crates = sorted(page.parent.name for page in RUSTDOC.glob("atlas_*/index.html"))
    if not crates:
        return ""
    pages = ", ".join(f'<a href="../rustdoc/{crate}/index.html">{crate}</a>' for crate in crates)
    return f"They stand beside this site: {pages}."


def on_config(config: MkDocsConfig) -> None:
    """Completes the navigation."""
    docs = Path(config.docs_dir)
    groups = {title: pages for entry in config.nav or [] for title, pages in entry.items()}
    text = repr(config.nav)
    groups["Guides"] += sorted(page.name for page in docs.glob("*.md") if repr(page.name) not in text)
    commands = sorted(page.name for page in (docs / "reference/commands").glob("*.md"))
    for entry in groups["Reference"]:
        if "Commands" in entry:
            entry["Commands"] += [f"reference/commands/{name}" for name in commands if name != "index.md"]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds a page for each file of the repository that a page links to, and for those that these link to."""
    waiting = list(files.documentation_pages())
    while waiting:
        page = waiting.pop()
        for link in links(page.content_string):
            file = target(page.src_uri, link.group(2))
            if file is None or files.get_file_from_path(uri(file)):
                continue
            text = (ROOT / file).read_text() if file.endswith(".md") else listing(file)
            added = File.generated(config, uri(file), content=text)
            files.append(added)
            if file.endswith(".md"):
                waiting.append(added)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lets links out of `docs/` lead to their pages, and takes rustdoc's own links away."""
    here = page.file.src_uri
    if here == "reference/rust.md":
        markdown = markdown.replace("<!-- rustdoc -->", rustdoc())
    if here.endswith(".listing.md"):
        return markdown
    out, end = "", 0
    for link in links(markdown):
        text, address = link.groups()
        file = target(here, address)
        if re.match(r"\w+::|atlas_\w+$", address):
            new = text
        elif file:
            _, mark, anchor = address.partition("#")
            new = f"[{text}]({posixpath.relpath(uri(file), posixpath.dirname(here) or '.')}{mark}{anchor})"
        else:
            continue
        out += markdown[end : link.start()] + new
        end = link.end()
    return out + markdown[end:]

