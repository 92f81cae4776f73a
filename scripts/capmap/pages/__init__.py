"""The report and the leaderboard, each one offline file with a strict policy and the same colors."""
