"""The pages of the project, and the fenced blocks of code in them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCE = re.compile(r"^( *)(`{3,})([^\n`]*)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """All Markdown that a reader is sent to, without what is built."""
    own = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "config/README.md")]
    built = {"_build", "generated"}
    return own + sorted(p for p in DOCS.rglob("*.md") if not built & set(p.parts))


def name_of(page: Path) -> str:
    """Its path in the project."""
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block: its language ("" where none is given), its text, and its first line."""

    language: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The file that it is, where its first line is a comment with a name."""
        found = re.match(r"# ([\w-]+\.(?:py|yaml|csv))\n", self.text)
        return found[1] if found else None


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in turn."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(match[3].strip(), match[4], line))
    return found


def texts(page: Path, language: str) -> list[str]:
    """The texts of its blocks of a language."""
    return [block.text for block in blocks(page) if block.language == language]


def prose(page: Path) -> str:
    """A page without its blocks and without code in a line."""
    return re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text(encoding="utf-8")))
