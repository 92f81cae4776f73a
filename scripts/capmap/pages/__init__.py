"""The report and the leaderboard: offline files with a strict policy and the same colors."""
