"""The publications whose methods a study uses, as BibTeX. Fields that are not sure are left out."""

import re

CITED = re.compile(r"\\cite[pt]?\{([^}]*)\}")
JASA = "Journal of the American Statistical Association"
JMLR = "Journal of Machine Learning Research"
Entry = tuple[str, dict[str, str]]


def _article(author: str, title: str, journal: str, year: int, volume: str, pages: str) -> Entry:
    return "article", {
        "author": author,
        "title": f"{{{title}}}",
        "journal": journal,
        "year": str(year),
        "volume": volume,
        "pages": pages,
    }


def _chapter(author: str, title: str, book: str, year: int) -> Entry:
    return "inproceedings", {
        "author": author,
        "title": f"{{{title}}}",
        "booktitle": book,
        "year": str(year),
    }


def _preprint(author: str, title: str, number: str, year: int) -> Entry:
    return "misc", {
        "author": author,
        "title": f"{{{title}}}",
        "howpublished": f"arXiv:{number}",
        "year": str(year),
    }


REFERENCES: dict[str, Entry] = {
    "adorni2025": _preprint(
        "Adorni and others",
        "Towards Efficient Benchmarking of Foundation Models in Remote Sensing: A Capabilities "
        "Encoding Approach",
        "2505.03299",
        2025,
    ),
    "agarwal2021": _chapter(
        "Agarwal, Rishabh and Schwarzer, Max and Castro, Pablo Samuel and Courville, Aaron C. and "
        "Bellemare, Marc G.",
        "Deep Reinforcement Learning at the Edge of the Statistical Precipice",
        "Advances in Neural Information Processing Systems 34",
        2021,
    ),
    "anzaku2024": _preprint(
        "Anzaku, E. T. and Mousavi, S. A. and Van Messem, A. and De Neve, W.",
        "Re-assessing ImageNet: How Aligned Is Its Single-Label Assumption with Its Multi-Label "
        "Nature?",
        "2412.18409",
        2024,
    ),
    "benavoli2017": _article(
        "Benavoli, A. and Corani, G. and Dem{\\v{s}}ar, J. and Zaffalon, M.",
        "Time for a Change: a Tutorial for Comparing Multiple Classifiers Through Bayesian "
        "Analysis",
        JMLR,
        2017,
        "18(77)",
        "",
    ),
    "bradley1952": _article(
        "Bradley, R. A. and Terry, M. E.",
        "Rank Analysis of Incomplete Block Designs: I. The Method of Paired Comparisons",
        "Biometrika",
        1952,
        "39",
        "324--345",
    ),
    "brennan2001": (
        "book",
        {
            "author": "Brennan, R. L.",
            "title": "{Generalizability Theory}",
            "publisher": "Springer",
            "year": "2001",
        },
    ),
    "demsar2006": _article(
        "Dem{\\v{s}}ar, J.",
        "Statistical Comparisons of Classifiers over Multiple Data Sets",
        JMLR,
        2006,
        "7",
        "1--30",
    ),
    "dolan2002": _article(
        "Dolan, E. D. and Mor{\\'e}, J. J.",
        "Benchmarking Optimization Software with Performance Profiles",
        "Mathematical Programming",
        2002,
        "91",
        "201--213",
    ),
    "erickson2025": _chapter(
        "Erickson, N. and others",
        "TabArena: A Living Benchmark for Machine Learning on Tabular Data",
        "Advances in Neural Information Processing Systems 38",
        2025,
    ),
    "friedman1937": _article(
        "Friedman, M.",
        "The Use of Ranks to Avoid the Assumption of Normality Implicit in the Analysis of "
        "Variance",
        JASA,
        1937,
        "32",
        "675--701",
    ),
    "gijsbers2024": _article(
        "Gijsbers, P. and others", "AMLB: an AutoML Benchmark", JMLR, 2024, "25", "1--65"
    ),
    "holm1979": _article(
        "Holm, S.",
        "A Simple Sequentially Rejective Multiple Test Procedure",
        "Scandinavian Journal of Statistics",
        1979,
        "6",
        "65--70",
    ),
    "johnson1978": _article(
        "Johnson, N. J.",
        "Modified t Tests and Confidence Intervals for Asymmetrical Populations",
        JASA,
        1978,
        "73",
        "536--544",
    ),
    "kendall1945": _article(
        "Kendall, M. G.",
        "The Treatment of Ties in Ranking Problems",
        "Biometrika",
        1945,
        "33",
        "239--251",
    ),
    "kerby2014": _article(
        "Kerby, D. S.",
        "The Simple Difference Formula",
        "Comprehensive Psychology",
        2014,
        "3",
        "11.IT.3.1",
    ),
    "lei2018": _article(
        "Lei, J. and others",
        "Distribution-Free Predictive Inference for Regression",
        JASA,
        2018,
        "113",
        "1094--1111",
    ),
    "mcgraw1996": _article(
        "McGraw, K. O. and Wong, S. P.",
        "Forming Inferences about Some Intraclass Correlation Coefficients",
        "Psychological Methods",
        1996,
        "1",
        "30--46",
    ),
    "mogstad2024": _article(
        "Mogstad, M. and Romano, J. P. and Shaikh, A. M. and Wilhelm, D.",
        "Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic "
        "Achievement across Countries",
        "Review of Economic Studies",
        2024,
        "91",
        "476--518",
    ),
    "nemenyi1963": (
        "phdthesis",
        {
            "author": "Nemenyi, P. B.",
            "title": "{Distribution-Free Multiple Comparisons}",
            "school": "Princeton University",
            "year": "1963",
        },
    ),
    "neyman1934": _article(
        "Neyman, J.",
        "On the Two Different Aspects of the Representative Method",
        "Journal of the Royal Statistical Society",
        1934,
        "97",
        "558--625",
    ),
    "papadopoulos2002": _chapter(
        "Papadopoulos, H. and others",
        "Inductive Confidence Machines for Regression",
        "European Conference on Machine Learning",
        2002,
    ),
    "piepho2004": _article(
        "Piepho, H.-P.",
        "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons",
        "Journal of Computational and Graphical Statistics",
        2004,
        "13",
        "456--466",
    ),
    "satterthwaite1946": _article(
        "Satterthwaite, F. E.",
        "An Approximate Distribution of Estimates of Variance Components",
        "Biometrics Bulletin",
        1946,
        "2",
        "110--114",
    ),
    "skillings1981": _article(
        "Skillings, J. H. and Mack, G. A.",
        "On the Use of a Friedman-Type Statistic in Balanced and Unbalanced Block Designs",
        "Technometrics",
        1981,
        "23",
        "171--177",
    ),
    "smyth2004": _article(
        "Smyth, G. K.",
        "Linear Models and Empirical {B}ayes Methods for Assessing Differential Expression in "
        "Microarray Experiments",
        "Statistical Applications in Genetics and Molecular Biology",
        2004,
        "3",
        "Article 3",
    ),
    "tukey1963": _article(
        "Tukey, J. W. and McLaughlin, D. H.",
        "Less Vulnerable Confidence and Significance Procedures for Location Based on a Single "
        "Sample: Trimming/Winsorization 1",
        "Sankhya A",
        1963,
        "25",
        "331--352",
    ),
    "wilcoxon1945": _article(
        "Wilcoxon, F.",
        "Individual Comparisons by Ranking Methods",
        "Biometrics Bulletin",
        1945,
        "1",
        "80--83",
    ),
    "yates1933": _article(
        "Yates, F.",
        "The Analysis of Replicated Experiments When the Field Results Are Incomplete",
        "Empire Journal of Experimental Agriculture",
        1933,
        "1",
        "129--142",
    ),
    "yuen1974": _article(
        "Yuen, K. K.",
        "The Two-Sample Trimmed t for Unequal Population Variances",
        "Biometrika",
        1974,
        "61",
        "165--170",
    ),
}


def list_cited(text: str) -> list[str]:
    r"""List the keys that a text cites, sorted.

    Examples
    --------
    >>> list_cited(r"by \citep{holm1979,agarwal2021} and \citet{holm1979}")
    ['agarwal2021', 'holm1979']
    """
    return sorted({key.strip() for keys in CITED.findall(text) for key in keys.split(",")})


def render_references(text: str) -> str:
    """Write the entries of exactly the keys that a text cites, as BibTeX.

    Parameters
    ----------
    text : str
        LaTeX with commands of natbib.

    Raises
    ------
    KeyError
        If it cites what is not known here.
    """
    return "\n".join(_render_entry(key, *REFERENCES[key]) for key in list_cited(text))


def _render_entry(key: str, kind: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"
