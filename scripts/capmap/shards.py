"""Which job works on which model. The workflow itself reads this, so no table is needed."""

from collections.abc import Iterable
from hashlib import blake2b


def split_shards(names: Iterable[str], n: int) -> dict[int, list[str]]:
    """Spread names over shards by a hash that is the same on every machine.

    Parameters
    ----------
    names : iterable of str
        Names of models; repeats count once.
    n : int
        Number of shards, positive.

    Returns
    -------
    dict
        The names of each shard that has any, by name; shards in order.

    Notes
    -----
    A name's shard depends on the name and `n` alone, so a new model moves no other.

    Examples
    --------
    >>> split_shards(["resnet50", "clay", "dofa"], 3)
    {1: ['dofa', 'resnet50'], 2: ['clay']}
    """
    shards: dict[int, list[str]] = {}
    for name in sorted(set(names)):
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        shards.setdefault(int.from_bytes(digest, "little") % n, []).append(name)
    return dict(sorted(shards.items()))
