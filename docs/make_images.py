"""Draw the pictures of the README from the shipped examples: ``python docs/make_images.py``.

They show what is in ``results/``, so run the examples first. Chromium takes the picture of a page.
"""

import shutil
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs/images"
PAGE = ROOT / "results/seeded/report.html"
MAP = ROOT / "results/literature/figures/capability_map.png"
WIDTH, HEIGHT = 1200, 840


def photograph_page() -> Image.Image:
    """Show the first screen of a report."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(PAGE.as_uri())
        picture = page.screenshot()
        browser.close()
    return Image.open(BytesIO(picture))


def shrink_map() -> Image.Image:
    """Shrink the map to the height of the page."""
    picture = Image.open(MAP)
    return picture.resize(
        (round(picture.width * HEIGHT / picture.height), HEIGHT),
        Image.Resampling.LANCZOS,
    )


if __name__ == "__main__":
    photograph_page().convert("RGB").save(IMAGES / "page.png", optimize=True)
    shrink_map().convert("RGB").save(IMAGES / "map.png", optimize=True)
