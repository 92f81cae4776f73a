"""Finished tables and figures of a study on one page that needs no network."""
