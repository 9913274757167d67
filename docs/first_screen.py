"""The pictures in the README: ``kronbench page --scale paper``, ``python docs/first_screen.py``.

Each keeps the accepted numbers that it shows; a test compares them with the latest.
"""

import shutil
import subprocess
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from kronbench_suite.report.verdicts import matrix, read_verdicts

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent / "results"
ACCEPTED, DRAWN = RESULTS / "reference" / "paper", RESULTS / "accepted-paper"


def shown() -> dict[str, str]:
    """By file name, what the accepted run has to show in that picture, as text."""
    return {
        "page.png": matrix(read_verdicts(ACCEPTED / "verdicts.csv")).to_csv(),
        "board.png": (ACCEPTED / "rivals" / "figure-2.csv").read_text(encoding="utf-8"),
    }


def kept(name: str) -> str | None:
    """What a picture says that it shows; None of one that was made in another way."""
    return Image.open(FOLDER / name).info.get("shown")


def main() -> None:
    """Draw the first screen of the accepted page and the ranks of the board, in few colours."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))))
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,1080"]
    page = (DRAWN / "report" / "index.html").as_uri()
    subprocess.run([browser, *options, f"--screenshot={FOLDER / 'page.png'}", page], check=True)
    shutil.copy(DRAWN / "rivals" / "figure-2.png", FOLDER / "board.png")
    for name, text in shown().items():
        told = PngInfo()
        told.add_text("shown", text)
        picture = Image.open(FOLDER / name).convert("RGB").quantize(256)
        picture.save(FOLDER / name, optimize=True, pnginfo=told)


if __name__ == "__main__":
    main()
