"""What the pages have in common: one offline file, a strict policy, the same colors."""
