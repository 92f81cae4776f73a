"""The leaderboard as one page that needs no server."""
