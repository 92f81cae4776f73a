"""capmap as it is installed: its library lies in the workflow beside it, as in a checkout."""

from pathlib import Path

__path__ = [str(Path(__file__).parent / "project/scripts/capmap")]

from capmap.public import __getattr__ as __getattr__
