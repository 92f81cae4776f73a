"""Time of a study's page in Chromium: 300 models on 50 datasets, first paint and highlighting.

Medians of seven loads in one browser; figures are drawn, tables made up.
"""

import shutil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from tests.report_pages import draw_study

LOADS = 7
MODELS = [f"Model-{place:03d}-large-patch14" for place in range(300)]
DATASETS = [f"dataset_{place:02d}" for place in range(50)]
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
# Until the next frame is shown.
PICK = """(model) => new Promise((done) => {
  const row = [...document.querySelectorAll("#table-headline th[scope=row]")].find(
    (cell) => cell.textContent === model,
  );
  const start = performance.now();
  row.click();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""


def measure(page: Page, path: Path) -> tuple[float, float]:
    """Milliseconds to the first paint, and to show a highlight."""
    page.goto(path.as_uri())
    page.wait_for_selector(".chosen")
    paint = page.evaluate(PAINT)
    return paint, median(page.evaluate(PICK, MODELS[place]) for place in range(5))


def main() -> None:
    """Print size and times."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = draw_study(Path(folder), MODELS, DATASETS)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        times = [measure(page, path) for _ in range(LOADS)]
        browser.close()
        paint, highlight = (median(column) for column in zip(*times, strict=True))
        size = path.stat().st_size / 1e6
    print(f"page {size:.2f} MB, first paint {paint:.0f} ms, highlight {highlight:.0f} ms")


if __name__ == "__main__":
    main()
