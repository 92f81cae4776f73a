"""50 000 generated files through every reader: read or refused, and nothing else.

The files are those of tests/fuzz, which takes some hundred of them. They depend on nothing but the
versions of hypothesis and its strategies, so that a fault can be found again. Prints how many files
of each kind were read and refused, the slowest one (time of the processor), and the peak of memory;
any other exception, a file that takes more than 10 seconds or is not done within 5 minutes, or more
than 2 GiB ends the script with an error.
"""

import argparse
import faulthandler
import logging
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import pandas as pd
from hypothesis import HealthCheck, Phase, given, settings

from capmap.tables import write_table
from tests.fuzz.readers import CASES, Case, take

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "benchmarks/results"
FILES = 50_000
LONGEST = 10.0
STUCK = 300.0
MEMORY = 2 << 30


def fuzz_kind(name: str, count: int, folder: Path) -> dict[str, object]:
    """Take a number of files of a kind, and count what became of them."""
    outcomes: Counter[str] = Counter()
    times: list[float] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(CASES[name])
    def take_each(case: Case) -> None:
        faulthandler.dump_traceback_later(STUCK, exit=True)
        start = time.process_time()
        outcomes[take(case, folder)] += 1
        times.append(time.process_time() - start)
        faulthandler.cancel_dump_traceback_later()
        if times[-1] > LONGEST:
            raise TimeoutError(f"The file took {times[-1]:.1f} s.")

    take_each()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    if peak > MEMORY:
        raise MemoryError(f"The files took {peak} bytes.")
    return {
        "kind": name,
        "files": len(times),
        "read": outcomes["read"],
        "refused": outcomes["refused"],
        "mean_ms": 1e3 * sum(times) / len(times),
        "longest_ms": 1e3 * max(times),
        "peak_mib": peak >> 20,
    }


def main() -> None:
    """Fuzz every kind of file, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES, help="how many files of all kinds")
    count = -(-parser.parse_args().files // len(CASES))
    warnings.simplefilter("error")
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for name in CASES:
            rows.append(fuzz_kind(name, count, Path(folder)))
            print(rows[-1], file=sys.stderr, flush=True)
        table = pd.DataFrame(rows)
    print(table.to_string(index=False), end="")
    print(f"{table['files'].sum()} files, each read or refused")
    write_table(table, [RESULTS / "fuzz.csv"])


if __name__ == "__main__":
    main()
