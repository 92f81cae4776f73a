"""The exceptions whose message a user reads, and faults of the machine in words."""

import errno
import os
import re

ERRNO = re.compile(r"\[[Ee]rrno (\d+)\]")
REMEDIES = {
    **dict.fromkeys([errno.ENOSPC, errno.EDQUOT, errno.EFBIG], "Make room."),
    **dict.fromkeys([errno.EACCES, errno.EPERM, errno.EROFS], "Check its permissions."),
    **dict.fromkeys([errno.EMFILE, errno.ENFILE], "Raise the limit (ulimit -n 4096)."),
    errno.EIO: "Check the disk, or work in another folder.",
}
GO_ON = "What is finished stays; run the same command again."


class CapmapError(Exception):
    """A fault that the user can correct; its message says what, where and how."""


class ConfigError(CapmapError):
    """The configuration asks for something impossible or unknown."""


class ExportError(CapmapError):
    """An export cannot be read at all."""


class ValidationError(CapmapError):
    """The runs of a study break its rules."""


def explain_machine(error: BaseException) -> str:
    """Say what to do about an error that is the machine's fault, not the program's; "" of others.

    What it was raised from is looked at as well.

    Examples
    --------
    >>> explain_machine(OSError(28, "No space left on device", "results/a.csv"))[:44]
    'No space left on device (results/a.csv). Mak'
    >>> explain_machine(ValueError("x"))
    ''
    """
    seen: BaseException | None = error
    while seen is not None:
        if text := _explain_one(seen):
            return text
        seen = seen.__cause__
    return ""


def _explain_one(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return (
            "There is too little memory. Close other programs, use fewer --cores, or a machine "
            f"with more. {GO_ON}"
        )
    if not isinstance(error, OSError):
        return ""
    # Libraries in C put the number into the text.
    found = ERRNO.search(str(error))
    number = error.errno or (int(found[1]) if found else 0)
    where = f" ({os.fsdecode(error.filename)})" if isinstance(error.filename, str | bytes) else ""
    if number not in REMEDIES:
        return ""
    return f"{os.strerror(number)}{where}. {REMEDIES[number]} {GO_ON}"
