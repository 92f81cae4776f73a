"""What an analysis did and found, in sentences ready for a paper."""

from capmap.prose.capabilities import describe_capabilities
from capmap.prose.checkpoints import describe_checkpoints
from capmap.prose.conditions import describe_conditions
from capmap.prose.drift import describe_drift
from capmap.prose.groups import describe_groups
from capmap.prose.improvability import describe_improvability
from capmap.prose.leaderboard import describe_leaderboard, describe_releases
from capmap.prose.multilabel import describe_multilabel
from capmap.prose.next_results import describe_next_results
from capmap.prose.pairwise import describe_pairwise
from capmap.prose.placements import describe_placements
from capmap.prose.profiles import describe_profiles
from capmap.prose.rank_tests import describe_rank_tests
from capmap.prose.ratings import describe_ratings
from capmap.prose.robustness import describe_robustness
from capmap.prose.sample_size import describe_sample_size
from capmap.prose.transfer import describe_transfer

__all__ = [
    "describe_capabilities",
    "describe_checkpoints",
    "describe_conditions",
    "describe_drift",
    "describe_groups",
    "describe_improvability",
    "describe_leaderboard",
    "describe_multilabel",
    "describe_next_results",
    "describe_pairwise",
    "describe_placements",
    "describe_profiles",
    "describe_rank_tests",
    "describe_ratings",
    "describe_releases",
    "describe_robustness",
    "describe_sample_size",
    "describe_transfer",
]
