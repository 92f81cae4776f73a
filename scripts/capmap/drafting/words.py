"""What people call the columns, folders and files of benchmark results."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from capmap.metrics import SPLITS as PREFIXES
from capmap.metrics import find_metric
from capmap.settings.files import read_yaml

_WORDS = read_yaml(str(Path(__file__).with_name("words.yaml")))
ROLES = {role: frozenset(words.split()) for role, words in _WORDS["roles"].items()}
EMPTY, COUNTED, LOWER, HIGHER = (
    frozenset(_WORDS[key].split()) for key in ("empty", "counted", "lower", "higher")
)
STATISTICS, BOUNDS, SIZES, RATES, RESULTS, SETTINGS = (
    frozenset(_WORDS[key].split())
    for key in ("statistics", "bounds", "sizes", "rates", "results", "settings")
)
DECLINES = frozenset(_WORDS["declines"].split())
CHANGES = DECLINES | frozenset(_WORDS["changes"].split())
METADATA, UNITS = (frozenset(_WORDS[key].split()) for key in ("metadata", "units"))
FINISHED, UNFINISHED = (frozenset(_WORDS[key].split()) for key in ("finished", "unfinished"))
SPLITS = tuple(_WORDS["splits"].split())
MISSING = tuple(_WORDS["missing"])
COMPLEMENT = re.compile(
    rf"(?:(?:{'|'.join(sorted(PREFIXES))})[ /.]+)*(?:1|100|one)(?:\.0+)?%?"
    r"(?P<minus> ?[-\u2010-\u2015\u2212] ?| minus )(?P<rest>.+)"
)
OPPOSITE = {"max": "min", "min": "max"}
# Words that mark names of models, and of datasets, wherever they are seen.
KNOWN: dict[str, re.Pattern[str]] = {
    "model": re.compile(
        r"(?i)(^|[^a-z])(resnet|vgg|vit|swin|convnext|dino|clip|bert|roberta|gpt|llama|mistral|"
        r"qwen|gemma|t5|mlp|cnn|lstm|gru|transformer|xgb|xgboost|lightgbm|lgbm|catboost|svm|svc|"
        r"knn|rf|randomforest|nb|naive|bayes|logreg|ridge|lasso|dqn|ppo|sac|td3|ddpg|a2c|a3c|trpo|"
        r"rainbow|impala|erm|irm|coral|mixup|dann|unet|deeplab|yolo|rcnn|efficientnet|mobilenet|"
        r"c4\.?5|rocket|inception|baseline|ours|model|net)"
    ),
    "dataset": re.compile(
        r"(?i)(^|[^a-z])(cifar|mnist|fashion|imagenet|svhn|stl|coco|voc|ade|cityscapes|adult|iris|"
        r"wine|glass|higgs|house|california|boston|diabetes|breast|glue|squad|mnli|sst|cola|mmlu|"
        r"arc|hellaswag|gsm|boolq|alien|pong|breakout|seaquest|qbert|ant|hopper|walker|"
        r"halfcheetah|humanoid|cartpole|pacs|vlcs|officehome|eurosat|resisc|bigearth|pastis|"
        r"dataset|data|d\d+$|task)"
    ),
}


def split_words(name: str) -> list[str]:
    """Split a name into its words, in lower case.

    Examples
    --------
    >>> split_words("testMetric_1"), split_words("args.trial_seed")
    (['test', 'metric', '1'], ['args', 'trial', 'seed'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", spaced.casefold())


def rate_role(name: str, role: str) -> int:
    """Rate how much a name looks like that of a role.

    Returns
    -------
    int
        3 where it is called so, 2 where its last word is, 1 where another is, else 0; plurals
        count as well.

    Examples
    --------
    >>> [rate_role(name, "dataset") for name in ("Dataset name", "test dataset", "task x", "seed")]
    [3, 2, 1, 0]
    >>> rate_role("n_seeds", "seed")
    0
    """
    own = split_words(name)
    if len(own) > 1 and own[0] in COUNTED and role != "count":
        return 0
    words = [word if word in ROLES[role] else word.removesuffix("s") for word in own]
    if role != "seed" and len(words) > 1 and words[-1] in EMPTY:
        words.pop()
    # Of nested values, the last part is the name.
    last = split_words(name.rpartition(".")[2])
    if "".join(words) in ROLES[role] or (len(last) == 1 and last[0] in ROLES[role]):
        return 3
    if not words:
        return 0
    return 2 if words[-1] in ROLES[role] else int(not ROLES[role].isdisjoint(words))


def rate_values(values: Collection[str], role: str) -> float:
    """Rate, from 0 to 1, how many of some names are those of models, datasets, metrics or seeds."""
    names = {value for value in values if value}
    if not names:
        return 0.0
    if role == "seed":
        found = [re.fullmatch(r"\D{0,2}\d{1,6}(\.0)?", name) is not None for name in names]
    elif role == "metric":
        found = [find_metric(name) is not None for name in names]
    elif role == "split":
        found = [name.casefold() in {*SPLITS, "train", "training"} for name in names]
    elif role in KNOWN:
        found = [KNOWN[role].search(name) is not None for name in names]
    else:
        return 0.0
    return sum(found) / len(names)


def find_words(name: str) -> list[str]:
    """Find the words of a name that are metrics.

    Examples
    --------
    >>> find_words("pred_accuracy"), find_words("LS Clean WER"), find_words("mnist")
    (['accuracy'], ['wer'], [])
    """
    return [word for word in split_words(name) if find_metric(word) is not None]


def is_statistic(name: str) -> bool:
    """Whether a column is called like a spread, a rank or a count, such as ``acc_stderr``."""
    words = split_words(name)
    return bool(words) and (words[-1] in STATISTICS or "stderr" in words)


def is_size(name: str) -> bool:
    """Whether a column is called like an attribute or a cost, such as ``image_gflops``.

    Examples
    --------
    >>> [is_size(name) for name in ("image_gflops", "#Features", "run_id", "answer rate")]
    [True, True, True, False]
    """
    words = split_words(name)
    if not words or name.lstrip().startswith("#"):
        return bool(words)
    is_rate = words[-1] == "rate" and not RATES.isdisjoint(words)
    return is_rate or words[-1] in SIZES or words[-1].endswith(("params", "flops", "macs"))


def is_metadata(name: str) -> bool:
    """Whether a column says when, where or how long a run was, such as ``created_at``.

    Examples
    --------
    >>> [is_metadata(name) for name in ("Runtime (s)", "git_commit", "time_limit", "shots")]
    [True, True, False, False]
    """
    words = [word for word in split_words(name) if word not in UNITS]
    return words[-1:] != [] and words[-1] in METADATA


def find_complement(name: str) -> str:
    """Find what a name says is taken from one, or from a hundred; "" where it says no such thing.

    Examples
    --------
    >>> find_complement("test 1-AUC"), find_complement("100 - F1"), find_complement("1-shot F1")
    ('auc', 'f1', '')
    """
    found = COMPLEMENT.fullmatch(re.sub(r"[\s_]+", " ", name).strip(" ()").casefold())
    if found is None:
        return ""
    is_spaced = found["minus"] != found["minus"].strip()
    return found["rest"] if is_spaced or find_metric(found["rest"]) else ""


def guess_direction(name: str) -> str:
    """Which way is better of a score, by its name; "" where that says nothing.

    Examples
    --------
    >>> guess_direction("Test error (%)"), guess_direction("FID ↓"), guess_direction("quality")
    ('min', 'min', '')
    >>> guess_direction("1 - AUC"), guess_direction("accuracy drop"), guess_direction("gain")
    ('min', '', 'max')
    """
    metric = find_metric(name)
    if metric is not None:
        return metric.direction
    if "↓" in name or "↑" in name:
        return "min" if "↓" in name else "max"
    if rest := find_complement(name):
        return OPPOSITE.get(guess_direction(rest), "")
    own = split_words(name)
    if _is_change(own):
        return ""
    words = {*own, *(word.removesuffix("s") for word in own)}
    if not words.isdisjoint(LOWER):
        return "min"
    return "max" if not words.isdisjoint(HIGHER) else ""


def _is_change(words: Sequence[str]) -> bool:
    """Whether words speak of the change of a metric, such as a drop of accuracy."""
    rest = [word for word in words if not {word, word.removesuffix("s")} & CHANGES]
    if len(rest) < len(words):
        return bool(guess_direction(" ".join(rest)))
    merits = [word for word in words if word != "loss"]
    return len(merits) < len(words) and guess_direction(" ".join(merits)) == "max"


def is_label(text: str) -> bool:
    """Whether a word before a number says what it numbers, as in ``seed_3`` or ``s3``."""
    words = split_words(text)
    return (
        bool(words)
        and not text.endswith("@")
        and (rate_role(words[-1], "seed") > 0 or words[-1] in ("s", "r", "split", "cv"))
    )
