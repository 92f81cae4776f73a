"""Labels of datasets whose metrics were published."""

import json

from capmap.artifacts import read_json
from count_labels import count_labels


def test_images_are_counted_by_their_different_labels(tmp_path):
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps([[3], [], [5, 8], [7, 7], [1, 2], []]))
    count_labels(labels=[str(labels)], datasets=["V1"], facts=str(tmp_path / "counted.json"))
    (fact,) = read_json(tmp_path / "counted.json")["dumps"]
    assert (fact["dataset"], fact["seed"]) == ("V1", "")
    # Twice the same label is one.
    assert fact["labels"] == {"0": 2, "1": 2, "2": 2}
