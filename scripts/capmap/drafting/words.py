"""What people call the columns, folders and files of benchmark results."""

import re
from collections.abc import Collection

from capmap.metrics import find_metric

ROLES: dict[str, frozenset[str]] = {
    "model": frozenset(
        [
            "model",
            "method",
            "algorithm",
            "algo",
            "backbone",
            "classifier",
            "agent",
            "approach",
            "framework",
            "estimator",
            "system",
            "network",
            "learner",
            "architecture",
            "arch",
            "encoder",
            "detector",
            "submission",
            "technique",
            "policy",
            "name",
        ]
    ),
    "dataset": frozenset(
        [
            "dataset",
            "task",
            "data",
            "benchmark",
            "env",
            "environment",
            "game",
            "problem",
            "corpus",
            "domain",
            "testset",
            "scenario",
            "suite",
        ]
    ),
    "metric": frozenset(["metric", "measure", "criterion"]),
    "seed": frozenset(
        [
            "seed",
            "run",
            "fold",
            "trial",
            "repeat",
            "repetition",
            "rep",
            "replicate",
            "replication",
            "randomstate",
        ]
    ),
    "score": frozenset(["score", "value", "result", "performance", "perf", "reward", "return"]),
    "step": frozenset(
        ["step", "epoch", "iteration", "iter", "timestep", "frame", "globalstep", "update"]
    ),
    "split": frozenset(["split", "partition", "subset", "phase", "stage"]),
    "spread": frozenset(["std", "stdev", "sd", "stddev", "sem", "stderr", "se", "deviation"]),
    "count": frozenset(["n", "count", "nruns", "nseeds", "runs", "seeds"]),
}
# Words that tell names of models, and of datasets, wherever they are seen.
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
SPLITS = ("test", "holdout", "eval", "evaluation", "validation", "valid", "val", "dev")
# What the last word of an attribute of models ends with.
SIZES = ("params", "flops", "macs", "size", "width", "height", "dim", "memory", "latency", "depth")
STATISTICS = frozenset(
    [
        "std",
        "stdev",
        "sem",
        "stderr",
        "se",
        "var",
        "min",
        "max",
        "median",
        "ci",
        "low",
        "high",
        "count",
        "n",
    ]
)


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
    >>> [rate_role(name, "dataset") for name in ("Datasets", "test dataset", "task id", "seed")]
    [3, 2, 1, 0]
    """
    words = [word if word in ROLES[role] else word.removesuffix("s") for word in split_words(name)]
    if "".join(words) in ROLES[role]:
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


def is_statistic(name: str) -> bool:
    """Tell whether a column is called like a spread or a count of runs, such as ``acc_stderr``."""
    words = split_words(name)
    return bool(words) and (words[-1] in STATISTICS or "stderr" in words)


def is_size(name: str) -> bool:
    """Tell whether a column is called like a size or cost of models, such as ``image_gflops``."""
    words = split_words(name)
    return bool(words) and words[-1].endswith(SIZES)


def is_label(text: str) -> bool:
    """Tell whether a word before a number says what it numbers, as in ``seed_3`` or ``s3``."""
    words = split_words(text)
    return bool(words) and (rate_role(words[-1], "seed") > 0 or words[-1] in ("s", "r"))
