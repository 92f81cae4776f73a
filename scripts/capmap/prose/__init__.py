"""What an analysis did and found, in sentences ready for a paper."""
