"""The exceptions whose message a user reads."""


class CapmapError(Exception):
    """A fault that the user can mend; its message says what, where and how."""


class ConfigError(CapmapError):
    """The configuration asks for something impossible or unknown."""


class ExportError(CapmapError):
    """An export cannot be read at all."""


class ValidationError(CapmapError):
    """The runs of a study break its rules."""
