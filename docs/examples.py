"""The gallery: pages with pictures from the scripts in ``docs/gallery/``, made with the pages.

The docstring of a script is the title and the text of its page. Links in it are relative to
``docs/gallery/``. Each script writes one picture, under its own name.
"""

import contextlib
import runpy
from pathlib import Path

import matplotlib

GALLERY = Path(__file__).parent / "gallery"
PAGES = GALLERY / "generated"
SOURCES = Path(__file__).parents[1] / "src" / "kronbench"
ORDER = "four-settings screen intervals kernel-weights shortcuts product pivots class-tree".split()
NOTEBOOKS = ("four-settings", "screen")

_CARDS = """\
::::{{grid}} 1 2 2 2
{cards}
::::

```{{toctree}}
:hidden:
{names}
```
"""
_CARD = """\
:::{{grid-item-card}} {title}
:img-top: generated/{name}.png
:img-alt: {title}
:link: generated/{name}
:link-type: doc
:::"""
_PAGE = """\
# {title}

{text}

![{title}]({name}.png)

```python
{code}
```

Download: {{download}}`{name}.py <../{name}.py>`{notebook}
"""


def parts(name: str) -> tuple[str, str, str]:
    """Title, text and code of a script."""
    script = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
    _, said, code = script.split('"""', 2)
    title, text = said.split("\n\n", 1)
    return title.rstrip("."), text.strip(), code.strip()


def draw(name: str, folder: Path) -> Path:
    """The picture that a script writes, in a folder."""
    matplotlib.use("agg")
    with contextlib.chdir(folder), matplotlib.rc_context({"savefig.dpi": 160}):
        runpy.run_path(str(GALLERY / f"{name}.py"))
        matplotlib.pyplot.close("all")
    return folder / f"{name}.png"


def write() -> None:
    """All pages; a picture that is newer than its script and the library is kept."""
    PAGES.mkdir(exist_ok=True)
    library = max(path.stat().st_mtime for path in SOURCES.rglob("*.py"))
    cards = []
    for name in ORDER:
        picture, script = PAGES / f"{name}.png", GALLERY / f"{name}.py"
        newest = max(library, script.stat().st_mtime)
        if not picture.exists() or picture.stat().st_mtime < newest:
            draw(name, PAGES)
        title, text, code = parts(name)
        link = f", {{download}}`notebook <../{name}.ipynb>`" if name in NOTEBOOKS else ""
        page = _PAGE.format(
            title=title, text=text.replace("(../", "(../../"), name=name, code=code, notebook=link
        )
        (PAGES / f"{name}.md").write_text(page, encoding="utf-8")
        cards.append(_CARD.format(title=title, name=name))
    names = "\n".join(f"generated/{name}" for name in ORDER)
    whole = _CARDS.format(cards="\n".join(cards), names=names)
    (PAGES / "cards.md").write_text(whole, encoding="utf-8")
