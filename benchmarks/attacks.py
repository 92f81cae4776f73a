"""What became of all attacks, a row for each: tries, survived, lost and misread.

Each attack (faults, fuzz, hostile_names, leaks, readings, tampering) writes its row when it ends.
Lost is what ended in a crash, in damaged or missing results, or in words that help nobody;
misread is what was taken for something else without a word, or given away. Prints the table.
"""

from pathlib import Path

import pandas as pd

from capmap.tables import render_markdown, write_table

TABLE = Path(__file__).parent / "results/attacks.csv"


def record_attack(attack: str, *, tries: int, lost: int, misread: int) -> None:
    """Put the row of an attack into the table, in the place of an older one.

    Parameters
    ----------
    attack : str
        What was done.
    tries : int
        How often.
    lost, misread : int
        How many of them did harm.
    """
    survived = tries - lost - misread
    rows = pd.read_csv(TABLE, index_col="attack") if TABLE.is_file() else pd.DataFrame()
    row = pd.DataFrame(
        {"tries": tries, "survived": survived, "lost": lost, "misread": misread}, index=[attack]
    )
    rows = pd.concat([rows.drop(attack, errors="ignore"), row]).sort_index()
    write_table(rows.rename_axis("attack").reset_index(), [TABLE, TABLE.with_suffix(".md")])


if __name__ == "__main__":
    print(render_markdown(pd.read_csv(TABLE)), end="")
