"""Named random streams: every draw is seeded by what it is for, never by where it stands."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

KeyArray = npt.NDArray[np.uint64]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def make_stream(seed: int, *names: str) -> np.random.Generator:
    """Make the random generator that belongs to a seed and a list of names, on every machine.

    The names say what the stream is for, such as the study, the analysis and the model.

    Notes
    -----
    Seed and names are hashed with their lengths in front, so ``("ab", "c")`` and ``("a", "bc")``
    are different streams.

    Examples
    --------
    >>> int(make_stream(0, "toy", "Model-1").integers(1000))
    880
    >>> make_stream(0, "ab", "c").random() == make_stream(0, "a", "bc").random()
    False
    """
    digest = blake2b(digest_size=32)
    for part in (str(seed), *names):
        text = part.encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(8, "little"))
        digest.update(text)
    entropy = np.frombuffer(digest.digest(), dtype="<u4")
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy.tolist())))


def hash_names(names: Iterable[str]) -> KeyArray:
    """A number of 64 bits for each name, the same on every machine."""
    texts = (name.encode("utf-8", "surrogatepass") for name in names)
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def combine_keys(keys: KeyArray, others: npt.ArrayLike) -> KeyArray:
    """Make further keys, for the names or numbers from 0 that follow, broadcast with the keys.

    With numbers they are the outputs of SplitMix64 with the keys as seeds.

    References
    ----------
    Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators, OOPSLA.
    """
    mixed = keys + GOLDEN * (np.atleast_1d(np.asarray(others, dtype=np.uint64)) + np.uint64(1))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def draw_uniforms(keys: KeyArray, count: int) -> npt.NDArray[np.float64]:
    """Draw numbers between 0 and 1 for each key, shape (*keys, count)."""
    drawn = combine_keys(keys[..., None], np.arange(count))
    return np.asarray(((drawn >> np.uint64(11)) + 0.5) * 2.0**-53)


def order_names(names: Iterable[str], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Places of names in random order: a further name comes in between and moves no other."""
    root = rng.integers(2**64, size=1, dtype=np.uint64)
    return np.argsort(combine_keys(root, hash_names(names)))
