"""The notebooks: ``python docs/notebook.py`` writes them.

That of a tutorial is made from its page alone. A file that the page tells to save is written by
its cell, a command is a line with "!", and what the page shows below a command is the output of
its cell. The blocks are run by the test of the page; another one compares the notebook with it.
Those of the gallery are made from scripts, which are run for the picture.
"""

import base64
import json
import re
import tempfile
from pathlib import Path

import examples

PAGE = Path(__file__).parent / "tutorials" / "screening.md"
_LINK = f" [A notebook]({PAGE.stem}.ipynb) has the same steps."
_FENCE = re.compile(r"^```(python|console)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def notebook() -> str:
    """The notebook as JSON, of version 4.4, which needs no random ids of cells."""
    text = PAGE.read_text(encoding="utf-8").replace(_LINK, "")
    # Between the prose stand the language of a block, and the block.
    prose, *parts = _FENCE.split(text)
    cells = [_markdown(prose)]
    for language, block, after in zip(*[iter(parts)] * 3, strict=True):
        if language == "python":
            name, _, program = block.removeprefix("# ").partition("\n")
            cells.append(_code(f"%%writefile {name}\n{program}"))
        else:
            for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                typed, _, shown = command.partition("\n")
                cells.append(_code(f"!{typed}", shown))
        if after.strip():
            cells.append(_markdown(after))
    return _notebook(cells)


def of_example(name: str, picture: Path | None = None) -> str:
    """The notebook of a script of the gallery: two cells, the second one with the picture."""
    title, text, code = examples.parts(name)
    # Where the drawing begins.
    at = code.index('plt.rcParams["font.size"]')
    shown = _code(code[at:])
    if picture:
        data = {"image/png": base64.b64encode(picture.read_bytes()).decode()}
        shown["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
    return _notebook([_markdown(f"# {title}\n\n{text}"), _code(code[:at]), shown])


def _notebook(cells):
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": cells,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _markdown(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source.strip()}


def _code(source, shown=""):
    output = {"output_type": "stream", "name": "stdout", "text": shown}
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "source": source.strip(),
        "outputs": [output] if shown else [],
    }


if __name__ == "__main__":
    PAGE.with_suffix(".ipynb").write_text(notebook(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for name in examples.NOTEBOOKS:
            written = of_example(name, examples.draw(name, Path(folder)))
            (examples.GALLERY / f"{name}.ipynb").write_text(written, encoding="utf-8")
