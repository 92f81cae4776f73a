"""Numbers as people write them: 0.91, 91%, 0,91, 1.234,5 and −3e-4."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from capmap.settings.choices import Decimal

Mark: TypeAlias = Literal[".", ","]
Mask: TypeAlias = npt.NDArray[np.bool_]

# What stands for no run among the values of a study.
MISSING = "missing"
EXPONENT = r"(?:[eE][+-]?\d+)?"
INTEGER = rf"^[+-]?\d+{EXPONENT}$"
PLAIN = rf"^[+-]?(?:\d+\.?\d*|\.\d+){EXPONENT}$"
THIN_SPACES = r"[\x{a0}\x{2009}\x{202f}]"
SPACED = rf"^[+-]?[1-9]\d{{0,2}}(?:{THIN_SPACES}\d{{3}})+(?:[.,]\d*)?$"
PERCENT = r"^[^eE]*\d[.,]?[\s\pZ]*%$"
NAN = r"^(?i:[+-]?nan)$"
# What R, Python and spreadsheets write for what is missing; dashes.
ABSENT = r"^(?:(?i:na|n/a|#n/a|<na>|null|none)|-{1,3}|[\x{2013}\x{2014}]|)$"
# A percent sign may stand behind the number, the spread, or the bracket.
SUMMARY = (
    r"^(?P<mean>[^±(%]*\d[^±(%+/]*?)\s*%?\s*(?:±|\+/?-|\(\s*(?:±|\+/?-)?)\s*"
    r"(?P<spread>[^)%+\-↑↓▲▼±]*\d[^)%↑↓▲▼±]*?)\s*%?\s*\)?\s*%?$"
)
# 0.912(3) is 0.912 ± 0.003 for a physicist, and 0.912 of three runs or ± 3 for others; 91% ± 2 has
# a spread that is not 0 behind a percent sign, and none behind itself.
UNCLEAR = r"\d[.,]\d.*\(\s*\d*[1-9]\d*\s*%?\s*\)|^[^±(]*%\s*(?:±|\+/?-|\()[^%]*[1-9][^%]*$"
INFINITE = r"^(?i:[+-]?inf(?:inity)?)$"
# In a column of spreads; (3) without a decimal mark may count units of the last digit.
BRACKETED = r"^\(([^()]*[.,]\d[^()]*)\)$"
SIGNED = r"^(?:±|\+/?-)"


class Kind(IntEnum):
    """What a cell of scores holds."""

    NUMBER = 0
    EMPTY = 1
    NAN = 2
    INFINITE = 3
    TEXT = 4
    OTHER_MARK = 5
    AMBIGUOUS = 6
    UNCLEAR = 7


@dataclass(frozen=True)
class Numbers:
    """The numbers of one column of text.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        NaN where the cell is no number.
    kinds : ndarray of int8, shape (n,)
        The `Kind` of each cell.
    mark : {".", ","}
        The decimal mark with which the column was read.
    percent_signs : int
        How many values were divided by 100 because of a percent sign.
    decimal_commas : int
        How many values were read with a decimal comma.
    spreads : ndarray of float64, shape (n,), optional
        How far runs spread about each value, NaN where the cell does not say it.
    """

    values: npt.NDArray[np.float64]
    kinds: npt.NDArray[np.int8]
    mark: Mark
    percent_signs: int = 0
    decimal_commas: int = 0
    spreads: npt.NDArray[np.float64] | None = None

    def take(self, places: npt.NDArray[np.intp]) -> "Numbers":
        """Take the numbers at some places; counts stay those of all."""
        spreads = None if self.spreads is None else self.spreads[places]
        return replace(self, values=self.values[places], kinds=self.kinds[places], spreads=spreads)


def parse_numbers(texts: pa.Array, *, decimal: Decimal = "auto") -> Numbers:
    """Read a column of numbers, with one decimal mark for all of them.

    1. White space and quotes around a number are taken off, a Unicode minus becomes ``-``, no-break
       and thin spaces between groups of three digits go.
    2. A percent sign divides by 100, exactly: 91.3% is the float nearest to 0.913.
    3. The decimal mark is the one that more values must have. Values that must have the other one
       get the kind OTHER_MARK.
    4. One mark with three digits behind it (``1,234``) may be a decimal mark or divide thousands.
       The mark chosen in 3 is a decimal mark. The other one divides thousands where another value
       shows that it does (``1,234.5`` or ``1,234,567``), or where `decimal` is given; the kind is
       AMBIGUOUS otherwise.

    Parameters
    ----------
    texts : pyarrow array of large_string, shape (n,)
        Cells without nulls.
    decimal : {"auto", ".", ","}, optional
        The decimal mark; "auto" finds it. A column with points alone has decimal points.

    Returns
    -------
    Numbers
        Each value equals Python's ``float`` of the number's text.

    Notes
    -----
    ``NA``, ``N/A``, ``null``, ``None`` and dashes are empty cells; ``NaN`` has the kind NAN. A
    number beyond the range of floats is infinite. Underscores, digits of other scripts, and a
    percent sign behind an exponent are not numbers.

    Examples
    --------
    >>> numbers = parse_numbers(pa.array(["0,91", "91%", "1.234,5"], pa.large_string()))
    >>> numbers.values.tolist(), numbers.mark
    ([0.91, 0.91, 1234.5], ',')
    """
    if decimal != "," and pc.all(pc.match_substring_regex(texts, PLAIN)).as_py():
        values = _to_floats(texts)
        kinds = np.where(np.isinf(values), Kind.INFINITE, Kind.NUMBER).astype(np.int8)
        return Numbers(values=values, kinds=kinds, mark=".")
    encoded = texts.dictionary_encode()
    words, places = encoded.dictionary, encoded.indices.to_numpy()
    clean = _clean(words)
    percent = _match(clean, PERCENT)
    body = _join_groups(_cut_percent(clean, percent))
    marks = _find_marks(body)
    mark = _choose_mark(marks, np.bincount(places, minlength=len(words)), decimal)
    other: Mark = "." if mark == "," else ","
    divides = decimal != "auto" or bool(marks[mark].grouped.any())
    number = _match(body, INTEGER) | marks[mark].decimal | marks[mark].grouped
    number |= marks[other].triple & divides

    plain = pc.replace_substring(pc.replace_substring(body, other, ""), mark, ".")
    plain = pc.if_else(pa.array(percent), pc.replace_substring_regex(plain, "$", "e-2"), plain)
    values = _to_floats(pc.if_else(pa.array(number | _match(clean, INFINITE)), plain, "nan"))
    kinds = np.full(len(words), Kind.TEXT, dtype=np.int8)
    kinds[marks[other].sure] = Kind.OTHER_MARK
    kinds[marks[other].triple] = Kind.AMBIGUOUS
    kinds[_match(clean, NAN)] = Kind.NAN
    kinds[_match(clean, ABSENT)] = Kind.EMPTY
    kinds[number] = Kind.NUMBER
    kinds[np.isinf(values)] = Kind.INFINITE
    comma = number & (mark == ",") & _match(body, ",")
    return Numbers(
        values=values[places],
        kinds=kinds[places],
        mark=mark,
        percent_signs=int((percent & number)[places].sum()),
        decimal_commas=int(comma[places].sum()),
    )


def parse_summaries(texts: pa.Array, *, decimal: Decimal = "auto") -> Numbers:
    """Read cells that hold a number and how far runs spread about it, such as "0.91 ± 0.02".

    Parameters
    ----------
    texts : pyarrow array of large_string, shape (n,)
        Cells without nulls: "0.91 ± 0.02", "0.91 +/- 0.02", "0.91 (0.02)" or "0.91 (±0.02)". A
        percent sign behind the spread holds for both; one behind the mean alone is UNCLEAR. Cells
        with one number have no spread, and a change, as in "0.91 (+0.02)", is
        none.
    decimal : {"auto", ".", ","}, optional
        The decimal mark, one for all numbers.

    Returns
    -------
    Numbers
        With ``spreads``.

    Examples
    --------
    >>> numbers = parse_summaries(pa.array(["0.91 ± 0.02", "91(2)%"], pa.large_string()))
    >>> numbers.values.tolist(), numbers.spreads.tolist()
    ([0.91, 0.91], [0.02, 0.02])
    """
    parts = pc.extract_regex(_clean(texts), SUMMARY)
    is_summary = pc.is_valid(parts)
    percent = pc.if_else(pc.match_substring(texts, "%"), "%", "").cast(pa.large_string())
    blank = pa.scalar("", pa.large_string())
    means, spreads = (
        pc.if_else(
            is_summary,
            pc.binary_join_element_wise(pc.struct_field(parts, name), percent, blank),
            otherwise,
        )
        for name, otherwise in (("mean", texts), ("spread", blank))
    )
    numbers = parse_numbers(pa.concat_arrays([means, spreads]), decimal=decimal)
    count = len(texts)
    kinds = numbers.kinds[:count].copy()
    bad = is_summary.to_numpy(zero_copy_only=False) & (numbers.kinds[count:] != Kind.NUMBER)
    kinds[bad & (kinds == Kind.NUMBER)] = Kind.TEXT
    kinds[_match(texts, UNCLEAR) & (kinds == Kind.NUMBER)] = Kind.UNCLEAR
    values = np.where(kinds > Kind.INFINITE, np.nan, numbers.values[:count])
    return replace(numbers, values=values, kinds=kinds, spreads=numbers.values[count:])


def bare_spreads(texts: pa.Array) -> pa.Array:
    """Take the sign or the brackets off spreads.

    Examples
    --------
    >>> bare_spreads(pa.array(["±0.02", "+/- 2%", "(0.02)"], pa.large_string())).to_pylist()
    ['0.02', ' 2%', '0.02']
    """
    clean = pc.replace_substring_regex(_clean(texts), BRACKETED, r"\1")
    return pc.replace_substring_regex(clean, SIGNED, "")


class Parse(Protocol):
    """A parser of texts, such as `parse_numbers`."""

    def __call__(self, texts: pa.Array, *, decimal: Decimal) -> Numbers:
        """Parse the texts with a decimal mark."""


def parse_mixed(
    texts: pa.Array, is_numeral: Mask, *, decimal: Decimal = "auto", parse: Parse = parse_numbers
) -> Numbers:
    """Parse cells some of which are numbers of the file (JSON, Parquet), whose mark is a point.

    The others are text with one decimal mark of their own.
    """
    if is_numeral.all() or not is_numeral.any():
        return parse(texts, decimal="." if len(texts) and is_numeral[0] else decimal)
    own = parse(texts.filter(pa.array(is_numeral)), decimal=".")
    others = parse(texts.filter(pa.array(~is_numeral)), decimal=decimal)

    def join(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
        joined = np.empty(len(texts), dtype=first.dtype)
        joined[is_numeral], joined[~is_numeral] = first, second
        return joined

    return replace(
        others,
        values=join(own.values, others.values),
        kinds=join(own.kinds, others.kinds),
        spreads=None
        if own.spreads is None or others.spreads is None
        else join(own.spreads, others.spreads),
    )


def recode(
    texts: pa.Array, values: Mapping[str, float | str], *, decimal: Decimal = "auto"
) -> tuple[pa.Array, Mask]:
    """Replace what stands for a score, such as "pass" for 1, or for none ("missing").

    Numbers without a percent sign are compared as numbers, as `parse_numbers` reads them. Returns
    the cells, replaced ones with a decimal point, and which of them are replaced.

    Examples
    --------
    >>> texts = pa.array(["1,0", "half", "'-0,50'", "0,7"], pa.large_string())
    >>> recoded, replaced = recode(texts, {"1": 2, "half": 0.5, "-0.5": "missing"})
    >>> recoded.to_pylist(), replaced.tolist()
    (['2', '0.5', '', '0,7'], [True, True, True, False])
    """
    encoded = texts.dictionary_encode()
    words, places = encoded.dictionary, encoded.indices.to_numpy()
    numerals = np.full(len(words), np.nan)
    numerals[places] = parse_numbers(texts, decimal=decimal).values
    keys = _clean(pa.array([*values], pa.large_string())).to_pylist()
    written: list[str | None] = []
    for word, numeral in zip(_clean(words).to_pylist(), numerals.tolist(), strict=True):
        numbers = () if "%" in word else (numeral, _to_float(word))
        found = [
            value
            for key, value in zip(keys, values.values(), strict=True)
            if word == key or any(_to_float(key) == number for number in numbers)
        ]
        written.append(("" if found[0] == MISSING else repr(found[0])) if found else None)
    is_replaced = np.array([text is not None for text in written], dtype=np.bool_)
    recoded = pc.coalesce(pa.array(written, pa.large_string()), words)
    return recoded.take(encoded.indices), is_replaced[places]


def _to_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass(frozen=True)
class _MarkForms:
    """Which texts can be numbers with a decimal mark, and how sure that is.

    ``decimal`` has the mark once, ``triple`` are those of them that may be whole thousands, and
    ``grouped`` has groups of thousands divided by the other mark, which must be so.
    """

    decimal: Mask
    triple: Mask
    grouped: Mask

    @property
    def sure(self) -> Mask:
        return (self.decimal & ~self.triple) | self.grouped


def _find_marks(texts: pa.Array) -> dict[Mark, _MarkForms]:
    forms: dict[Mark, _MarkForms] = {}
    pairs: tuple[tuple[Mark, str, str], ...] = ((".", r"\.", ","), (",", ",", r"\."))
    for mark, here, there in pairs:
        groups = rf"^[+-]?[1-9]\d{{0,2}}(?:{there}\d{{3}})"
        forms[mark] = _MarkForms(
            decimal=_match(texts, rf"^[+-]?(?:\d*{here}\d+|\d+{here}){EXPONENT}$"),
            triple=_match(texts, rf"^[+-]?[1-9]\d{{0,2}}{here}\d{{3}}$"),
            grouped=_match(texts, rf"{groups}+{here}\d*$") | _match(texts, rf"{groups}{{2,}}$"),
        )
    return forms


def _choose_mark(
    marks: dict[Mark, _MarkForms], counts: npt.NDArray[np.intp], decimal: Decimal
) -> Mark:
    if decimal != "auto":
        return decimal
    commas, points = (int(counts[marks[mark].sure].sum()) for mark in (",", "."))
    return "," if commas > points else "."


def _clean(texts: pa.Array) -> pa.Array:
    clean = pc.utf8_trim_whitespace(texts)
    for quote in ('"', "'"):
        clean = pc.replace_substring_regex(clean, f"^{quote}(.*){quote}$", r"\1")
    clean = pc.utf8_trim_whitespace(clean)
    for mark, plain in (("\u2212", "-"), ("\uff08", "("), ("\uff09", ")")):
        clean = pc.replace_substring(clean, mark, plain)
    return clean


def _cut_percent(texts: pa.Array, percent: Mask) -> pa.Array:
    cut = pc.utf8_rtrim_whitespace(pc.utf8_rtrim(texts, characters="%"))
    return pc.if_else(pa.array(percent), cut, texts)


def _join_groups(texts: pa.Array) -> pa.Array:
    joined = pc.replace_substring_regex(texts, THIN_SPACES, "")
    return pc.if_else(pc.match_substring_regex(texts, SPACED), joined, texts)


def _match(texts: pa.Array, pattern: str) -> Mask:
    mask: Mask = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return mask


def _to_floats(texts: pa.Array) -> npt.NDArray[np.float64]:
    objects: npt.NDArray[Any] = texts.to_numpy(zero_copy_only=False)
    return objects.astype(np.float64)
