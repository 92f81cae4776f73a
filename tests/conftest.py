"""Generated examples are the same in every run, and take as long as they take."""

from hypothesis import settings

settings.register_profile("capmap", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("capmap")
