"""What is known about the usual metrics: which way is better, and how far they can go."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from capmap.settings.choices import Direction


@dataclass(frozen=True)
class Metric:
    """A metric as its definition has it.

    Parameters
    ----------
    name : str
        The usual short name.
    direction : {"max", "min"}
        Whether the higher or the lower score is better.
    low, high : float or None
        The natural bounds of the score; None where it has none, or where communities differ in
        scale (BLEU is given in 0 to 1 and in 0 to 100).
    aliases : tuple of str
        Other names of the same metric.
    """

    name: str
    direction: Direction
    low: float | None = None
    high: float | None = None
    aliases: tuple[str, ...] = ()


def _share(name: str, *aliases: str) -> Metric:
    return Metric(name, "max", 0.0, 1.0, aliases)


def _miss(name: str, *aliases: str) -> Metric:
    return Metric(name, "min", 0.0, 1.0, aliases)


def _correlation(name: str, *aliases: str) -> Metric:
    return Metric(name, "max", -1.0, 1.0, aliases)


def _explained(name: str, *aliases: str) -> Metric:
    return Metric(name, "max", None, 1.0, aliases)


def _error(name: str, *aliases: str) -> Metric:
    return Metric(name, "min", 0.0, None, aliases)


def _cost(name: str, *aliases: str) -> Metric:
    return Metric(name, "min", None, None, aliases)


def _merit(name: str, *aliases: str) -> Metric:
    return Metric(name, "max", None, None, aliases)


METRICS: tuple[Metric, ...] = (
    # Classification
    _share("accuracy", "acc", "overall accuracy", "OA", "top1", "top1 accuracy", "top1 acc"),
    _share("top-k accuracy", "top3", "top3 accuracy", "top5", "top5 accuracy", "top10 accuracy"),
    _share("balanced accuracy", "balanced acc", "bacc", "average accuracy", "mean class accuracy"),
    _share("ASMA", "average subgroup multi-label accuracy"),
    _share("ReaL", "ReaL accuracy"),
    _share("labelwise", "label-wise accuracy"),
    _share("subset accuracy", "exact match", "exact match ratio", "EM"),
    _share("F1", "F1 score", "F measure", "F score"),
    _share("F beta", "F beta score", "F2", "F2 score", "F0.5", "F0.5 score"),
    _share("precision", "positive predictive value", "PPV", "user's accuracy"),
    _share("recall", "sensitivity", "TPR", "true positive rate", "producer's accuracy"),
    _share("specificity", "TNR", "true negative rate", "selectivity"),
    _share("negative predictive value", "NPV"),
    _share("AUROC", "ROC AUC", "AUC ROC", "AUC", "area under ROC curve", "ROC AUC score", "ROC"),
    _share("AUPRC", "PR AUC", "AUC PR", "PRC", "area under precision recall curve"),
    _share("AP", "average precision", "average precision score", "AP score"),
    _share("concordance index", "C index"),
    _share("G-mean", "geometric mean score"),
    _correlation("MCC", "Matthews correlation coefficient", "Matthews corrcoef", "phi coefficient"),
    _correlation("kappa", "Cohen's kappa", "Cohen kappa score", "quadratic kappa", "QWK"),
    _miss("error rate", "classification error", "misclassification rate", "top1 error"),
    _miss("top-k error", "top5 error"),
    _miss("hamming loss", "hamming distance"),
    _miss("zero one loss", "0-1 loss"),
    _miss("false positive rate", "FPR", "false alarm rate", "FPR95", "FPR at 95 TPR"),
    _miss("false negative rate", "FNR", "miss rate"),
    _miss("equal error rate", "EER"),
    _miss("ranking loss", "label ranking loss"),
    # Detection and segmentation
    _share("mAP", "mean average precision", "bbox map", "segm map", "box map", "mask map"),
    _share("average recall", "AR", "mean average recall", "mAR"),
    _share("IoU", "mIoU", "jaccard", "jaccard index", "jaccard score", "intersection over union"),
    _share("Dice", "dice score", "dice coefficient", "DSC", "Sørensen-Dice", "mDice"),
    _share("pixel accuracy", "pixel acc", "aAcc"),
    _share("mean pixel accuracy", "mAcc"),
    _share("panoptic quality", "PQ"),
    _share("PCK", "percentage of correct keypoints"),
    _error("Hausdorff distance", "HD95"),
    _error("average surface distance", "ASD", "ASSD", "average symmetric surface distance"),
    _error("end-point error", "EPE"),
    _error("MPJPE", "mean per joint position error"),
    _error("chamfer distance"),
    # Regression
    _explained("R2", "R2 score", "R squared", "coefficient of determination", "NSE"),
    _explained("explained variance", "explained variance score"),
    _explained("Kling-Gupta efficiency", "KGE"),
    _error("RMSE", "root mean squared error", "root mean square error", "rms error", "RMSD"),
    _error("NRMSE", "normalized RMSE", "relative RMSE", "rRMSE"),
    _error("MAE", "mean absolute error", "L1 error", "L1 loss"),
    _error("median absolute error", "MedAE"),
    _error("MSE", "mean squared error", "mean square error", "squared error", "L2 loss"),
    _error("MAPE", "mean absolute percentage error"),
    _error("sMAPE", "symmetric mean absolute percentage error"),
    _error("WAPE", "weighted absolute percentage error"),
    _error("MASE", "mean absolute scaled error"),
    _error("RMSSE", "root mean squared scaled error"),
    _error("absolute relative error", "abs rel"),
    _error("RMSLE", "root mean squared log error"),
    _error("MSLE", "mean squared log error"),
    _error("max error", "maximum error"),
    _error("pinball loss", "quantile loss", "weighted quantile loss", "WQL"),
    _error("Huber loss", "smooth L1 loss"),
    _correlation("Spearman", "Spearman rho", "Spearman correlation", "Spearmanr", "SRCC"),
    _correlation("Pearson", "Pearson r", "Pearson correlation", "PLCC", "PCC"),
    _correlation("Kendall", "Kendall tau", "Kendall's tau b", "KRCC"),
    _correlation("concordance correlation coefficient", "Lin's CCC", "CCC"),
    # Probabilities
    _error("log loss", "logistic loss"),
    _error("cross entropy", "cross entropy loss", "BCE", "binary cross entropy", "CE loss"),
    _error("KL divergence", "KLD", "Kullback Leibler divergence"),
    _error("Brier score", "Brier", "Brier score loss"),
    _error("CRPS", "continuous ranked probability score"),
    _miss("ECE", "expected calibration error", "calibration error"),
    _miss("maximum calibration error", "MCE"),
    _cost("NLL", "negative log likelihood", "NLL loss"),
    _merit("log likelihood"),
    _merit("ELBO", "evidence lower bound"),
    Metric("perplexity", "min", 1.0, None, ("PPL", "word perplexity", "token perplexity")),
    _error("bits per byte", "BPB"),
    _error("bits per character", "BPC"),
    # Images
    _merit("PSNR", "peak signal to noise ratio"),
    _merit("SNR", "signal to noise ratio"),
    _merit("SI-SDR", "SDR", "signal to distortion ratio"),
    _correlation("SSIM", "structural similarity", "structural similarity index"),
    _correlation("MS-SSIM", "multiscale SSIM"),
    _error("LPIPS", "learned perceptual image patch similarity"),
    _error("FID", "Fréchet inception distance"),
    _error("FVD", "Fréchet video distance"),
    _cost("KID", "kernel inception distance"),
    _merit("inception score"),
    _merit("CLIP score"),
    _error("ERGAS"),
    # Language and speech
    _merit("BLEU", "BLEU score", "sacreBLEU", "BLEU1", "BLEU2", "BLEU3", "BLEU4"),
    _merit("ROUGE", "ROUGE score", "ROUGE1", "ROUGE2", "ROUGE-L", "ROUGE-Lsum"),
    _merit("METEOR", "METEOR score"),
    _merit("chrF", "chrF2"),
    _merit("BERTScore", "BERTScore F1"),
    _merit("COMET"),
    _merit("BLEURT"),
    _merit("CIDEr"),
    _merit("SPICE"),
    _merit("mean opinion score", "MOS"),
    _merit("PESQ"),
    _error("WER", "word error rate"),
    _error("CER", "character error rate"),
    _error("phoneme error rate"),
    _error("TER", "translation edit rate"),
    # Retrieval, generation and agents
    _share("NDCG", "normalized discounted cumulative gain"),
    _share("MRR", "mean reciprocal rank", "reciprocal rank"),
    _share("hit rate", "hits", "hits at k", "hit ratio"),
    _share("pass at k", "pass", "pass1"),
    _share("success rate", "solve rate", "resolve rate"),
    _share("win rate"),
    _merit("reward", "episode reward"),
    _merit("Elo", "Elo rating"),
    # Clustering
    _share("NMI", "normalized mutual information"),
    _share("V measure"),
    _share("purity"),
    _explained("ARI", "adjusted rand index"),
    _explained("AMI", "adjusted mutual information"),
    _correlation("silhouette", "silhouette score", "silhouette coefficient"),
)

SPLITS = frozenset({"train", "val", "valid", "validation", "dev", "test", "eval", "holdout"})
AVERAGINGS = frozenset(
    {"macro", "micro", "weighted", "mean", "average", "avg", "binary", "multiclass", "multilabel"}
)
NEGATIONS = frozenset({"neg", "negative", "negated", "minus"})
DASHES = re.compile("[\u2010-\u2015\u2212]")
SIGN = re.compile(r"(?:^|/)\s*(?:-|\(-\))")


def canonical_name(name: str) -> str:
    """Reduce a metric's name to what distinguishes it: no case, no separators.

    Parameters
    ----------
    name : str
        A metric's name as somebody wrote it.

    Returns
    -------
    str
        Two names mean the same metric to capmap when this is equal.

    Notes
    -----
    Letters are folded (NFKC, so R² is R2) and everything but letters and digits is left out. A
    leading minus stays, also behind a slash, because -RMSE is better when it is higher. A name of
    nothing but symbols is only folded and trimmed.

    Examples
    --------
    >>> canonical_name("Multilabel_F1-Score ")
    'multilabelf1score'
    >>> canonical_name("R²") == canonical_name("r_2"), canonical_name("-RMSE")
    (True, '-rmse')
    >>> find_metric("val/–RMSE").direction, find_metric("(-)RMSE").direction
    ('max', 'max')
    """
    folded = _fold(name)
    letters = "".join(_split(folded))
    if not letters:
        return folded
    return f"-{letters}" if SIGN.search(folded) else letters


def find_metric(name: str) -> Metric | None:
    """Look up a metric by any of its usual names.

    1. The whole name is compared with every name and alias, see `canonical_name`.
    2. Where it is unknown, words that do not change the direction are taken off its ends, one by
       one: splits (``test_``, ``val/``), averagings (``macro_``, ``multiclass_``) and trailing
       cut-offs (``@10``, ``_50``).
    3. A leading minus or ``neg_`` turns the metric around: direction and bounds change sign.

    Parameters
    ----------
    name : str
        A metric's name as somebody wrote it.

    Returns
    -------
    Metric or None
        None when the name is not known. A direction is never guessed.

    Examples
    --------
    >>> find_metric("test_test_segm_map").name
    'mAP'
    >>> negated = find_metric("neg_root_mean_squared_error")
    >>> negated.direction, negated.low, negated.high
    ('max', None, 0.0)
    >>> find_metric("quality") is None
    True
    """
    folded = _fold(name)
    sign = -1 if SIGN.search(folded) else 1
    words = _split(folded)
    while words:
        metric = _KNOWN.get("".join(words))
        if metric is not None:
            return metric if sign == 1 else _negate(metric)
        if words[0] in NEGATIONS:
            sign = -sign
            words = words[1:]
        elif words[0] in SPLITS | AVERAGINGS:
            words = words[1:]
        elif words[-1] in SPLITS | AVERAGINGS | {"at"} or words[-1].isdecimal():
            words = words[:-1]
        else:
            return None
    return None


def is_same_metric(first: str, second: str) -> bool:
    """Whether two names stand for one metric, by their spelling or by what is known of them.

    Examples
    --------
    >>> is_same_metric("Overall_Accuracy", "acc"), is_same_metric("quality", "accuracy")
    (True, False)
    """
    if canonical_name(first) == canonical_name(second):
        return True
    known = find_metric(first)
    return known is not None and known == find_metric(second)


def suggest(name: str) -> str | None:
    """Find the known metric name that is spelled most like an unknown one, if any is.

    Examples
    --------
    >>> suggest("acuracy"), suggest("zzz")
    ('accuracy', None)
    """
    nearest = get_close_matches(canonical_name(name), _SPELLINGS, n=1, cutoff=0.75)
    return _SPELLINGS[nearest[0]] if nearest else None


def _fold(name: str) -> str:
    return DASHES.sub("-", unicodedata.normalize("NFKC", name)).strip().casefold()


def _split(folded: str) -> list[str]:
    return re.findall(r"[^\W_]+", folded)


def _negate(metric: Metric) -> Metric:
    return Metric(
        name=f"negative {metric.name}",
        direction="min" if metric.direction == "max" else "max",
        low=None if metric.high is None else 0.0 - metric.high,
        high=None if metric.low is None else 0.0 - metric.low,
    )


def _spellings() -> Iterator[tuple[str, str, Metric]]:
    for metric in METRICS:
        for name in (metric.name, *metric.aliases):
            yield canonical_name(name), name, metric


_KNOWN = {spelling: metric for spelling, _, metric in _spellings()}
_SPELLINGS = {spelling: name for spelling, name, _ in _spellings()}
