"""Draw the pictures of README and examples: ``python docs/make_images.py``.

They show what is in ``results/``, so run the examples first. Chromium takes the picture of a page.
"""

import shutil
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs/images"
RESULTS = ROOT / "results"
STUDIES = ["toy", "seeded", "benchmark", "literature", "imagenet", "shapes", "trainings"]
PAGES = {name: RESULTS / name / "report.html" for name in STUDIES}
PAGES["leaderboard"] = RESULTS / "leaderboard/leaderboard/index.html"
MAP = RESULTS / "literature/figures/capability_map.png"  # with figures: {formats: [png]}
WIDTH, HEIGHT = 1200, 840


def photograph_pages() -> dict[str, Image.Image]:
    """Show the first screens of pages."""
    pictures = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name, path in PAGES.items():
            page.goto(path.as_uri())
            page.wait_for_function("!document.querySelector('[aria-busy=true]')")
            pictures[name] = Image.open(BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    return pictures


def shrink_map() -> Image.Image:
    """Shrink the map to the height of the page."""
    picture = Image.open(MAP)
    return picture.resize(
        (round(picture.width * HEIGHT / picture.height), HEIGHT),
        Image.Resampling.LANCZOS,
    )


if __name__ == "__main__":
    for name, picture in photograph_pages().items():
        few = picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(IMAGES / f"first_{name}.png", optimize=True)
    shrink_map().convert("RGB").save(IMAGES / "map.png", optimize=True)
