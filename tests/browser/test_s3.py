"""Files between a page and a bucket: by CORS, past the server, whole, in parts and by ranges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_data import Data
from tests.browser.test_uploads import drop
from tests.servers.seaweedfs import ACCESS_KEY, REGION, SECRET_KEY

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Request

    from tests.browser.conftest import OpenPage, StartLab
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
LARGE_BYTES = 20 * 1024**2
ROWS = 120_000


def use_bucket(home: Path, server: Seaweedfs) -> str:
    """Make a bucket, and let the person's server keep its data there; returns its name."""
    bucket = server.make_bucket()
    config = home / ".config" / "acai" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'object_store = "s3"\ns3_bucket = "{bucket}"\ns3_endpoint_url = "{server.url}"\n')
    (home / ".aws").mkdir()
    (home / ".aws" / "config").write_text(f"[default]\nregion = {REGION}\n")
    keys = f"aws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET_KEY}\n"
    (home / ".aws" / "credentials").write_text(f"[default]\n{keys}")
    return bucket


def allow(server: Seaweedfs, bucket: str, origin: str) -> None:
    """Let pages of an origin read and send, by the rules that docs/operators/backends.md names."""
    rule: dict[str, Any] = {
        "AllowedOrigins": [origin],
        "AllowedMethods": ["GET", "PUT"],
        "AllowedHeaders": ["*"],
        "ExposeHeaders": ["ETag"],
    }
    server.client().put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [rule]})


def test_what_is_dropped_goes_to_a_bucket_and_is_shown_from_there(
    start_lab: StartLab, open_page: OpenPage, s3_server: Seaweedfs, home: Path, tmp_path: Path
) -> None:
    bucket = use_bucket(home, s3_server)
    allow(s3_server, bucket, "https://elsewhere.org")
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "squares.csv").write_text("number,square\n" + "".join(f"{n},{n * n}\n" for n in range(ROWS)))
    (raw / "large.bin").write_bytes(bytes(range(256)) * (LARGE_BYTES // 256))
    lab = start_lab()
    page = open_page(lab).open()
    sent: list[Request] = []
    page.page.on("response", lambda answer: sent.append(answer.request))
    page.choose("View", "ACAI Data")
    data = Data(page)
    expect(data.region).to_contain_text("There are no files yet", timeout=JOBS_MS)
    drop(data, raw)
    uploads = data.region.get_by_role("list", name="uploads under way")
    expect(uploads.get_by_role("alert")).to_contain_text("may not let pages read and send by CORS", timeout=JOBS_MS)
    allow(s3_server, bucket, re.sub("/lab.*", "", lab.url))
    uploads.get_by_role("button", name="try again").click()
    expect(uploads).to_contain_text("2 new, 0 unchanged", timeout=JOBS_MS)
    data.file("raw/").click()
    data.file("squares.csv").dblclick()
    data.about("/raw/squares.csv").get_by_role("button", name="open version 1").click()
    expect(page.page.get_by_role("group", name="part of the file")).to_contain_text("of 3")
    expect(page.page.locator(".jp-CSVViewer")).to_be_visible()
    data.file("large.bin").dblclick()
    with page.page.expect_download() as started:
        data.about("/raw/large.bin").get_by_role("button", name="download version 1").click()
    assert started.value.path().read_bytes() == (raw / "large.bin").read_bytes()
    by_store = [one.method for one in sent if one.url.startswith(f"{s3_server.url}/{bucket}/")]
    assert by_store.count("PUT") == 3  # a pack, and two parts
    assert "GET" in by_store
    assert not [one.url for one in sent if "/acai/api/v1/objects/" in one.url]
    page.forgive("CORS")
    page.forgive("net::ERR_FAILED")
