"""What the tests of exports from servers share."""

import os
from collections.abc import Iterator

import boto3
import pytest

from tests.remote.servers import ExportServer, serve_exports, serve_s3

KEYS = ("ACCESS_KEY", "SECRET_KEY")


@pytest.fixture
def server() -> Iterator[ExportServer]:
    """A server over HTTP without files."""
    with serve_exports() as started:
        yield started


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch, tmp_path) -> Iterator:
    """An S3 with the empty bucket ``runs``, and the environment of a user who has its keys."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for key in KEYS:
        monkeypatch.setenv(f"SNAKEMAKE_STORAGE_S3_{key}", "testing")
    with serve_s3() as url:
        client = boto3.client(
            "s3",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key=os.environ["SNAKEMAKE_STORAGE_S3_SECRET_KEY"],
        )
        client.create_bucket(Bucket="runs")
        yield client
