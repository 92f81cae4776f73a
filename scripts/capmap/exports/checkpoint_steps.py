"""The step at which a checkpoint was saved, read off its name."""

import re

STEP = re.compile(r"steps?[\W_]*([0-9]+)", re.IGNORECASE)
EPOCH = re.compile(r"epochs?[\W_]*([0-9]+)", re.IGNORECASE)
PLAIN = re.compile(r"\s*([0-9]+)(?:\.0*)?\s*", re.ASCII)
NUMBER = re.compile(r"[0-9]+")
LARGEST = 2**63 - 1


def read_step(checkpoint: str) -> tuple[int, str] | None:
    """Read the step off a checkpoint's name.

    Parameters
    ----------
    checkpoint : str
        A number, a file name, or any other text.

    Returns
    -------
    tuple of int and str, or None
        The step, 0 or more, and what it counts: "step" or "epoch". None where the name has no
        number, or several of which none is called step or epoch.

    Notes
    -----
    The last number called ``step`` counts, else the last one called ``epoch``, else the only number
    of the name, which is taken for a step. Signs, decimals and words such as ``last`` are not read.
    A number beyond 64 bits is none.

    Examples
    --------
    >>> read_step("epoch=3-step=1200.ckpt"), read_step("epoch_07.pt"), read_step("checkpoint-500")
    ((1200, 'step'), (7, 'epoch'), (500, 'step'))
    >>> read_step("300.0"), read_step("last.ckpt"), read_step("v2-500.ckpt")
    ((300, 'step'), None, None)
    """
    plain = PLAIN.fullmatch(checkpoint)
    numbers = [plain.group(1)] if plain else NUMBER.findall(checkpoint)
    steps, epochs = STEP.findall(checkpoint), EPOCH.findall(checkpoint)
    if steps or epochs:
        text, kind = (steps[-1], "step") if steps else (epochs[-1], "epoch")
    elif len(numbers) == 1:
        text, kind = numbers[0], "step"
    else:
        return None
    # Python refuses to read numbers of several thousand digits.
    text = text.lstrip("0") or "0"
    is_small = len(text) <= len(str(LARGEST)) and int(text) <= LARGEST
    return (int(text), kind) if is_small else None
