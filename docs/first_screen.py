"""The picture in the README: ``kronbench page --scale paper``, ``python docs/first_screen.py``.

The accepted verdicts, which it shows, are kept in the file; a test compares them with the latest.
"""

import shutil
import subprocess
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from kronbench.reference.verdicts import matrix, read_verdicts

PICTURE = Path(__file__).parent / "page.png"
RESULTS = Path(__file__).parents[1] / "results"
REPORT = RESULTS / "accepted-paper" / "report"


def counts(verdicts: Path) -> str:
    """The verdicts in a file by paper and question, as text."""
    return matrix(read_verdicts(verdicts)).to_csv()


def shown() -> str | None:
    """The verdicts that the picture shows; None of one that was made in another way."""
    return Image.open(PICTURE).info.get("verdicts")


def main() -> None:
    """Draw the first screen of the accepted page, in few colours, with its verdicts."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))))
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,1080"]
    page = (REPORT / "index.html").as_uri()
    subprocess.run([browser, *options, f"--screenshot={PICTURE}", page], check=True)
    kept = PngInfo()
    kept.add_text("verdicts", counts(RESULTS / "reference" / "paper" / "verdicts.csv"))
    picture = Image.open(PICTURE).convert("RGB").quantize(256)
    picture.save(PICTURE, optimize=True, pnginfo=kept)


if __name__ == "__main__":
    main()
