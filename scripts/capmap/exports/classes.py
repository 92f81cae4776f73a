"""Lists of classes and of image ids: a name's position is what counts."""

from collections import Counter
from collections.abc import Sequence

from capmap.exports.files import (
    JSON,
    TABLES,
    has_suffix,
    read_lines,
    refuse,
)
from capmap.problems import FaultTally, ask_nearest

IMAGE = "image"


def read_classes(path: str) -> list[str]:
    """Read the names of classes in the order of their ids.

    Parameters
    ----------
    path : str
        Text with one name per line, which may be packed (``.gz``).

    Returns
    -------
    list of str
        The name of class 0 first. A name may stand for several classes: ImageNet has two "crane".

    Raises
    ------
    UnreadableExportError
        When the file cannot be read, or a name is empty.
    """
    return _read_names(path)


def read_images(path: str) -> list[str]:
    """Read image ids in the order of the scores.

    Parameters
    ----------
    path : str
        As in `read_classes`, one id per image.

    Returns
    -------
    list of str

    Raises
    ------
    UnreadableExportError
        When the file cannot be read, or an id is empty or not the only one of its name.
    """
    images = _read_names(path)
    check_images(images, path)
    return images


def check_images(images: Sequence[str], source: str, *, lines: Sequence[int] = ()) -> None:
    """Check that no image id is empty or stands twice.

    Parameters
    ----------
    images : sequence of str
        Image ids.
    source : str
        The file.
    lines : sequence of int, optional
        The line of each.

    Raises
    ------
    UnreadableExportError
        With the codes "empty_image" and "duplicated_image".
    """
    tally = FaultTally(source)
    seen: set[str] = set()
    for place, image in enumerate(images):
        line = int(lines[place]) if len(lines) else 0
        where = f"Image {place + 1}"
        if not image:
            tally.add("empty_image", f"{where} has no id.", "Fill it in.", line=line)
        elif image in seen:
            tally.add(
                "duplicated_image",
                f"{where} has an id that stands further up already.",
                "Give each image an id of its own, such as its path below the folder of images.",
                line=line,
                value=image,
            )
        seen.add(image)
    tally.raise_any()


def _read_names(path: str) -> list[str]:
    if has_suffix(path, JSON | TABLES):
        reason = "The file is JSON or a table, and names are read one per line."
        raise refuse("no_lines", path, reason, "Write one name per line into a text file.")
    return read_lines(path)


def check_letters(texts: Sequence[str], path: str) -> None:
    """Check that texts out of JSON can be written down again.

    Raises
    ------
    UnreadableExportError
        When one has half of a surrogate pair.
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        reason = "A text of the file has half of a surrogate pair."
        raise refuse("half_pair", path, reason, "Write the file with a JSON library.") from error


class LabelError(Exception):
    """What is wrong with a label, without its place.

    Parameters
    ----------
    code : str
        Short stable name of the kind of fault.
    reason : str
        The end of a sentence that begins with "has a label that".
    remedy : str
        What to do about it, in a sentence.
    """

    def __init__(self, code: str, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.code, self.reason, self.remedy = code, reason, remedy


class ClassNames:
    """The place of each class by its name.

    Parameters
    ----------
    names : sequence of str, optional
        The name of each class; empty where classes have ids only.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names = list(names)
        self._places = {name: place for place, name in enumerate(self.names)}
        self._shared = {name for name, count in Counter(self.names).items() if count > 1}
        self._nearest: dict[str, str] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def find_place(self, name: str) -> int:
        """Find the place of a class.

        Raises
        ------
        LabelError
            When no class or several classes have the name, or none has a name.
        """
        if not self.names:
            remedy = "Set `classes` to the file of the class list, or write ids of classes."
            raise LabelError("unnamed_classes", "is a name, and no class list is known.", remedy)
        if name in self._shared:
            reason = f"is the name of {self.names.count(name)} classes."
            raise LabelError("shared_name", reason, "Write the id of the class that is meant.")
        if name not in self._places:
            remedy = f"{self._ask(name)}Write names as in the class list, and ids as numbers."
            raise LabelError("unknown_class", "is the name of no class.", remedy)
        return self._places[name]

    def _ask(self, name: str) -> str:
        """Ask for the nearest name, once: a file of unknown names is reported at its first."""
        if not self._nearest:
            self._nearest[name] = ask_nearest(name, self.names)
        return self._nearest.get(name, "")
