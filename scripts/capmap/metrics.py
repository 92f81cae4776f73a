"""What is known about the usual metrics: which way is better, and how far they can go."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from capmap.settings.choices import Direction


@dataclass(frozen=True)
class Metric:
    """A metric with its natural bounds and other names.

    A bound is None where there is none, or where communities differ in scale (BLEU is given in 0 to
    1 and in 0 to 100).
    """

    name: str
    direction: Direction
    low: float | None = None
    high: float | None = None
    aliases: tuple[str, ...] = ()


# By direction and natural bounds; the name of each metric, then others of the same.
KNOWN: dict[tuple[Direction, float | None, float | None], str] = {
    ("max", 0.0, 1.0): """
        accuracy, acc, overall accuracy, OA, top1, top1 accuracy, top1 acc
        top-k accuracy, top3, top3 accuracy, top5, top5 accuracy, top10 accuracy
        balanced accuracy, balanced acc, bacc, average accuracy, mean class accuracy
        ASMA, average subgroup multi-label accuracy
        ReaL, ReaL accuracy
        labelwise, label-wise accuracy
        subset accuracy, exact match, exact match ratio, EM
        F1, F1 score, F measure, F score, macroF1, microF1
        F beta, F beta score, F2, F2 score, F0.5, F0.5 score
        precision, positive predictive value, PPV, user's accuracy
        recall, sensitivity, TPR, true positive rate, producer's accuracy
        specificity, TNR, true negative rate, selectivity
        negative predictive value, NPV
        AUROC, ROC AUC, AUC ROC, AUC, area under ROC curve, ROC AUC score, ROC
        AUPRC, PR AUC, AUC PR, PRC, area under precision recall curve
        AP, average precision, average precision score, AP score
        concordance index, C index
        G-mean, geometric mean score
        mAP, mean average precision, bbox map, segm map, box map, mask map
        average recall, AR, mean average recall, mAR
        IoU, mIoU, jaccard, jaccard index, jaccard score, intersection over union
        Dice, dice score, dice coefficient, DSC, Sørensen-Dice, mDice
        pixel accuracy, pixel acc, aAcc
        mean pixel accuracy, mAcc
        panoptic quality, PQ
        PCK, percentage of correct keypoints
        NDCG, normalized discounted cumulative gain
        MRR, mean reciprocal rank, reciprocal rank
        hit rate, hits, hits at k, hit ratio, HR
        pass at k, pass, pass1
        success rate, solve rate, resolve rate
        NMI, normalized mutual information
        win rate; V measure; purity
    """,
    ("min", 0.0, 1.0): """
        error rate, classification error, misclassification rate, top1 error
        top-k error, top5 error
        hamming loss, hamming distance
        zero one loss, 0-1 loss
        false positive rate, FPR, false alarm rate, FPR95, FPR at 95 TPR
        false negative rate, FNR, miss rate
        equal error rate, EER
        ranking loss, label ranking loss
        ECE, expected calibration error, calibration error
        maximum calibration error, MCE
    """,
    ("max", -1.0, 1.0): """
        MCC, Matthews correlation coefficient, Matthews corrcoef, phi coefficient
        kappa, Cohen's kappa, Cohen kappa score, quadratic kappa, QWK
        Spearman, Spearman rho, Spearman correlation, Spearmanr, SRCC
        Pearson, Pearson r, Pearson correlation, PLCC, PCC
        Kendall, Kendall tau, Kendall's tau b, KRCC
        concordance correlation coefficient, Lin's CCC, CCC
        SSIM, structural similarity, structural similarity index
        MS-SSIM, multiscale SSIM
        silhouette, silhouette score, silhouette coefficient
    """,
    ("max", None, 1.0): """
        R2, R2 score, R squared, coefficient of determination, NSE
        explained variance, explained variance score
        Kling-Gupta efficiency, KGE
        ARI, adjusted rand index
        AMI, adjusted mutual information
    """,
    ("min", 0.0, None): """
        Hausdorff distance, HD95
        average surface distance, ASD, ASSD, average symmetric surface distance
        end-point error, EPE
        MPJPE, mean per joint position error
        RMSE, root mean squared error, root mean square error, rms error, RMSD
        NRMSE, normalized RMSE, relative RMSE, rRMSE
        MAE, mean absolute error, L1 error, L1 loss
        median absolute error, MedAE
        MSE, mean squared error, mean square error, squared error, L2 loss
        MAPE, mean absolute percentage error
        sMAPE, symmetric mean absolute percentage error
        WAPE, weighted absolute percentage error
        MASE, mean absolute scaled error
        RMSSE, root mean squared scaled error
        absolute relative error, abs rel
        RMSLE, root mean squared log error
        MSLE, mean squared log error
        max error, maximum error
        pinball loss, quantile loss, weighted quantile loss, WQL
        Huber loss, smooth L1 loss
        log loss, logistic loss
        cross entropy, cross entropy loss, BCE, binary cross entropy, CE loss
        KL divergence, KLD, Kullback Leibler divergence
        Brier score, Brier, Brier score loss
        CRPS, continuous ranked probability score
        bits per byte, BPB
        bits per character, BPC
        LPIPS, learned perceptual image patch similarity
        FID, Fréchet inception distance
        FVD, Fréchet video distance
        WER, word error rate
        CER, character error rate
        AURC, area under risk coverage curve
        TER, translation edit rate
        chamfer distance; ERGAS; phoneme error rate
    """,
    ("min", 1.0, None): """
        perplexity, PPL, word perplexity, token perplexity
    """,
    ("min", None, None): """
        NLL, negative log likelihood, NLL loss
        KID, kernel inception distance
    """,
    ("max", None, None): """
        ELBO, evidence lower bound
        PSNR, peak signal to noise ratio
        SNR, signal to noise ratio
        SI-SDR, SDR, signal to distortion ratio
        BLEU, BLEU score, sacreBLEU, BLEU1, BLEU2, BLEU3, BLEU4
        ROUGE, ROUGE score, ROUGE1, ROUGE2, ROUGE-L, ROUGE-Lsum
        METEOR, METEOR score
        chrF, chrF2
        BERTScore, BERTScore F1
        mean opinion score, MOS
        reward, episode reward
        Elo, Elo rating
        log likelihood; inception score; CLIP score; COMET; BLEURT; CIDEr; SPICE; PESQ
    """,
}


def _read_known() -> Iterator[Metric]:
    for known, lines in KNOWN.items():
        for line in re.split(r"[\n;]", lines.strip()):
            name, *aliases = line.strip().split(", ")
            yield Metric(name, *known, tuple(aliases))


METRICS = list(_read_known())
SPLITS = frozenset({"train", "val", "valid", "validation", "dev", "test", "eval", "holdout", "cv"})
AVERAGINGS = frozenset(
    {"macro", "micro", "weighted", "mean", "average", "avg", "binary", "multiclass", "multilabel"}
)
NEGATIONS = frozenset({"neg", "negative", "negated", "minus"})
DASHES = re.compile("[\u2010-\u2015\u2212]")
SIGN = re.compile(r"(?:^|/)\s*(?:-|\(-\))")


def canonical_name(name: str) -> str:
    """Reduce a metric's name to what distinguishes it: no case, no separators.

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


_NAMES = [(canonical_name(name), name, own) for own in METRICS for name in (own.name, *own.aliases)]
_KNOWN = {spelling: metric for spelling, _, metric in _NAMES}
_SPELLINGS = {spelling: name for spelling, name, _ in _NAMES}
