"""Dumps of predictions: the scores of every class, or the best classes of each image."""

from capmap.exports.arrays import NPY, ZIP, map_array, read_archive
from capmap.exports.documents import has_suffix, refuse
from capmap.exports.files import PARQUET, SIGNATURES, read_content
from capmap.exports.score_tables import Dump, ScoreDump, read_score_table

ARRAYS = frozenset({".npy", ".npz"})


def open_scores(path: str, *, n_classes: int | None = None) -> Dump:
    """Open what a classifier said of the images of a dataset.

    Parameters
    ----------
    path : str
        The dump, known by its first bytes:

        - ``.npy``: floats of shape (images, classes), mapped into memory;
        - ``.npz``: the same as ``scores`` (or the only array) and perhaps image ids as ``ids``;
          read, so an array may have 1 GiB at most;
        - a table, Parquet or text (``.csv``, ``.tsv``, also ``.gz``), of 1 GiB at most, with the
          columns ``1`` … ``k`` or ``class_1`` … ``class_k`` (the ids of the best classes, best
          first) or a column of scores per class. Image ids are in the column ``image``, if there is
          one.
    n_classes : int, optional
        Number of classes that it must have; unknown by default.

    Returns
    -------
    ScoreDump or TopDump

    Raises
    ------
    UnreadableExportError
        When the dump cannot be read, is cut off, pickled or no floats, or has another number of
        classes.

    Notes
    -----
    Scores may be logits or probabilities, and are not looked at in ``.npy`` and ``.npz``: NaN there
    is for who ranks them to find. In a table each score must be a number; infinite ones are.
    """
    head = read_content(path, limit=len(NPY))
    if head.startswith(NPY):
        _require_unpacked(path)
        dump: Dump = ScoreDump(map_array(path))
    elif head.startswith(ZIP):
        _require_unpacked(path)
        dump = ScoreDump(*read_archive(path))
    elif has_suffix(path, ARRAYS):
        raise refuse("not_an_array", path, *_explain_nature(head))
    else:
        dump = read_score_table(path, n_classes=n_classes)
    if isinstance(dump, ScoreDump) and n_classes not in (None, dump.n_classes):
        raise refuse(
            "wrong_classes",
            path,
            f"There are scores of {dump.n_classes} classes, and {n_classes} are expected.",
            "Check that the class list is that of the classifier, background classes included.",
        )
    return dump


def _require_unpacked(path: str) -> None:
    with open(path, "rb") as stream:
        if stream.read(2) == b"\x1f\x8b":
            reason = "The array is packed with gzip, and cannot be mapped into memory so."
            raise refuse("packed_array", path, reason, "Unpack it with gunzip.")


def _explain_nature(head: bytes) -> tuple[str, str]:
    if not head:
        return "The file is empty.", "Save it again with numpy.save."
    if head.startswith(PARQUET):
        return "The file is Parquet.", "Give it the suffix .parquet."
    nature = next((what for magic, what in SIGNATURES if head.startswith(magic)), "something else")
    remedy = "Save the scores with numpy.save(path, scores, allow_pickle=False)."
    return f"The file is called a NumPy array but is {nature}.", remedy
