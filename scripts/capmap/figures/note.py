"""A small figure that says why there is nothing to show."""

from matplotlib.figure import Figure

from capmap.figures.canvas import PADDING, ROW_HEIGHT, Margins, Wording, make_sheet
from capmap.figures.names import wrap_text
from capmap.figures.style import COLUMN_WIDTH, TEXT_SIZE, figure_style

MAX_LINES = 4


@figure_style()
def draw_note(text: str, *, heading: str = "") -> Figure:
    """Draw a sentence in place of a figure that would be empty.

    Parameters
    ----------
    text : str
        Why there is nothing to show; broken into at most four lines.
    heading : str
        The heading of the figure that is missing.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).

    Examples
    --------
    >>> figure = draw_note("One model: no pair to compare.", heading="Pairwise comparison")
    >>> len(figure.texts)
    2
    """
    lines = wrap_text(text, width=COLUMN_WIDTH - 2 * PADDING, size=TEXT_SIZE, max_lines=MAX_LINES)
    height = (len(lines) + 1) * ROW_HEIGHT
    margins = Margins(left=PADDING, right=PADDING, head=0.0, ticks=0.0)
    wording = Wording(heading, "")
    sheet = make_sheet(width=COLUMN_WIDTH, height=height, margins=margins, wording=wording)
    sheet.axes.set_axis_off()
    sheet.write("\n".join(lines), x=0, y=height - ROW_HEIGHT / 2, va="top")
    return sheet.figure
