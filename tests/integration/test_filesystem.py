"""`acai://` in the libraries that people use, and in fsspec's own words, over every kind of store."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import random
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb
import fsspec
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from acai_jupyter.contract.errors import AcaiError, Conflict, ServerUnreachable, StoreUnavailable
from acai_jupyter.filesystem import links
from tests.integration.lakes import Lake, lake
from tests.servers.proxy import Trouble, proxied

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acai_jupyter.filesystem import AcaiFileSystem

MIB = 1024**2
TABLE = pd.DataFrame({"number": range(6), "word": list("aabbcc")})


@pytest.fixture
def fs(any_lake: Lake, monkeypatch: pytest.MonkeyPatch) -> AcaiFileSystem:
    """The file system, with the server as the one that is found."""
    return connected(any_lake, monkeypatch)


def connected(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> AcaiFileSystem:
    monkeypatch.setenv("ACAI_URL", lake.server.root)
    monkeypatch.setenv("ACAI_TOKEN", lake.server.token)
    found: AcaiFileSystem = fsspec.filesystem("acai", skip_instance_cache=True)
    return found


@pytest.fixture(scope="module")
def images(any_lake: Lake) -> Lake:
    """The set train:1, and newer versions that are not in it."""
    for name in ("1.png", "2.png", "note.txt", "sub/3.png", "sub/4@5:6%.png"):
        any_lake.place.write(f"img/{name}", f"{name}, the first time")
    any_lake.typed("put", "img", "/img", "--as", "train")
    any_lake.place.write("img/1.png", "1.png, again")
    any_lake.place.write("img/9.png", "9.png")
    any_lake.typed("put", "img", "/img")
    return any_lake


def committed(lake: Lake) -> int:
    """Count the upload sessions that were committed."""
    found = lake.server.get("/v1/projects/default/uploads?state=committed&limit=1000")["uploads"]
    return len(found)


# -- reading


@pytest.mark.usefixtures("images")
@pytest.mark.parametrize(
    ("url", "content"),
    [
        ("acai:///img/1.png", "1.png, again"),
        ("acai:///img/1.png:1", "1.png, the first time"),
        ("acai:///img/1.png@train", "1.png, the first time"),
        ("acai:///img/1.png@train:1", "1.png, the first time"),
        ("acai:///img@train/1.png", "1.png, the first time"),
        ("acai://default/img/1.png@train", "1.png, the first time"),
        ("acai:///img/sub/4%405%3A6%25.png@train", "sub/4@5:6%.png, the first time"),
    ],
)
def test_every_form_of_a_url_opens(fs: AcaiFileSystem, url: str, content: str) -> None:
    with fsspec.open(url, "rb") as file:
        assert file.read() == content.encode()
    with fsspec.open(url, "r") as text:
        assert text.read() == content
    assert fs.cat(url) == content.encode()
    assert fs.size(url) == len(content)
    assert fs.ukey(url) == fs.checksum(url) == hashlib.sha256(content.encode()).hexdigest()


@pytest.mark.usefixtures("images")
def test_what_is_not_there_is_said_in_pythons_words(fs: AcaiFileSystem) -> None:
    for url in ("acai:///img/9.png@train", "acai:///img/1.png:7", "acai:///img/1.png@nothing", "acai://other/x"):
        with pytest.raises(FileNotFoundError, match="There is no"):
            fs.open(url)
        assert not fs.exists(url)
    with pytest.raises(IsADirectoryError, match="'/img' is a folder"):
        fs.open("acai:///img/")


def test_an_open_file_stays_the_version_that_it_was(fs: AcaiFileSystem) -> None:
    fs.pipe("/stays/x", b"first" * 100_000)
    with fs.open("/stays/x") as file:
        assert file.read(5) == b"first"
        fs.pipe("/stays/x", b"other")
        assert file.read() == (b"first" * 100_000)[5:]
        file.seek(-5, os.SEEK_END)
        assert file.read() == b"first"
    assert fs.cat("/stays/x") == b"other"


def test_lines_are_read_one_after_the_other(fs: AcaiFileSystem) -> None:
    lines = [f"{number} {'x' * (number % 97)}\n".encode() for number in range(20_000)]
    fs.pipe("/lines", b"".join(lines))
    with fs.open("/lines") as file:
        assert list(file) == lines
        assert file.cache.total_requested_bytes == file.size
    with fs.open("/lines", "r") as text:
        assert [line.encode() for line in text] == lines


def test_an_empty_file_is_empty(fs: AcaiFileSystem) -> None:
    fs.pipe("/empty", b"")
    assert fs.cat("/empty") == b""
    with fs.open("/empty") as file:
        assert file.read() == b""


def test_slices_of_files_come_as_asked_for(fs: AcaiFileSystem) -> None:
    content = random.Random(1).randbytes(300_000)
    fs.pipe({"/slices/a": content, "/slices/b": b"0123456789"})
    assert fs.cat_file("/slices/a", 1000, 2000) == content[1000:2000]
    assert fs.cat_file("/slices/a", -1000, None) == content[-1000:]
    assert fs.cat_file("/slices/b", 5, 500) == b"56789"
    paths = ["/slices/a", "/slices/b", "/slices/a", "/slices/a", "/slices/none"]
    found = fs.cat_ranges(paths, [0, 2, 250_000, 100, 0], [10, 4, 250_010, 100, 5])
    assert found[:4] == [content[:10], b"23", content[250_000:250_010], b""]
    assert isinstance(found[4], FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        fs.cat_ranges(paths, 0, 5, on_error="raise")


def test_many_threads_read_one_file_system(fs: AcaiFileSystem) -> None:
    contents = {f"/threads/{number}": random.Random(number).randbytes(50_000) for number in range(20)}
    fs.pipe(contents)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fs.cat_file, contents)) == list(contents.values())


def test_a_forked_child_reads_on_connections_of_its_own(fs: AcaiFileSystem) -> None:
    content = random.Random(5).randbytes(3 * MIB)
    fs.pipe("/forked", content)
    file = fs.open("/forked")
    file.read(10)
    of_the_parent = links.connections()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that a process with threads forks
        child = os.fork()
    if child == 0:
        right = file.read() == content[10:] and fs.cat("/forked") == content
        os._exit(0 if right and links.connections() is not of_the_parent else 1)
    assert file.read() == content[10:]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    file.close()


def test_a_pickled_file_goes_on_where_it_was_in_the_same_version(fs: AcaiFileSystem) -> None:
    fs.pipe("/pickled", b"0123456789")
    with fs.open("/pickled") as file:
        file.seek(5)
        pickled = pickle.dumps(file)
    fs.pipe("/pickled", b"another")
    with pickle.loads(pickled) as file:
        assert file.read() == b"56789"


# -- looking


@pytest.mark.usefixtures("images")
def test_folders_of_the_project_and_of_sets_are_listed(fs: AcaiFileSystem) -> None:
    assert fs.ls("acai:///img", detail=False) == ["/img/1.png", "/img/2.png", "/img/9.png", "/img/note.txt", "/img/sub"]
    in_set = ["/img@train/1.png", "/img@train/2.png", "/img@train/note.txt", "/img@train/sub"]
    assert fs.ls("acai:///img/@train", detail=False) == in_set
    assert fs.ls("acai:///@train", detail=False) == ["/@train/img"]
    assert fs.ls("/img/1.png:1", detail=False) == ["/img/1.png:1"]
    assert fs.isdir("/img/@train:1")
    assert fs.isdir("/")
    assert not fs.isdir("/img/1.png@train")
    with pytest.raises(FileNotFoundError):
        fs.ls("/nowhere")


@pytest.mark.usefixtures("images")
def test_everything_below_a_folder_is_found(fs: AcaiFileSystem) -> None:
    sub = ["/img/sub@train:1/3.png", "/img/sub@train:1/4%405%3A6%25.png"]
    assert fs.find("acai:///img/sub/@train:1") == sub
    assert fs.find("/img/sub@train:1", withdirs=True) == ["/img/sub@train:1", *sub]
    folders = set(fs.find("/@train:1", withdirs=True)) - set(fs.find("/@train:1"))
    assert folders == {"/@train:1", "/@train:1/img", "/@train:1/img/sub"}
    assert fs.find("/img@train:1", maxdepth=1) == [f"/img@train:1/{name}" for name in ("1.png", "2.png", "note.txt")]
    assert [folder for folder, _, _ in fs.walk("/@train:1")] == ["/@train:1", "/@train:1/img", "/@train:1/img/sub"]
    assert fs.du("/img/sub@train:1") == sum(len(f"sub/{name}, the first time") for name in ("3.png", "4@5:6%.png"))
    assert fs.find("/nowhere") == []
    assert fs.cat(sub) == {path: fs.cat(path) for path in sub}


@pytest.mark.usefixtures("images")
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("acai:///img/*.png", ["/img/1.png", "/img/2.png", "/img/9.png"]),
        ("acai:///img/*.png@train", ["/img/1.png@train", "/img/2.png@train"]),
        ("acai:///img/[2-9].png@train:1", ["/img/2.png@train:1"]),
        ("acai:///img/*/3.png@train", ["/img/sub/3.png@train"]),
        ("acai:///img/**/3.png@train", ["/img/sub/3.png@train"]),
        ("acai:///*@train", ["/img@train"]),
        ("acai:///img/@train/*.png", ["/img@train/1.png", "/img@train/2.png"]),
        ("acai:///img/1.png@train", ["/img/1.png@train"]),
        ("acai:///img/*.jpg@train", []),
    ],
)
def test_a_pattern_is_looked_for_in_the_set_behind_it(fs: AcaiFileSystem, pattern: str, found: list[str]) -> None:
    assert fs.glob(pattern) == found
    assert list(fs.glob(pattern, detail=True)) == found


@pytest.mark.usefixtures("images")
def test_times_and_numbers_are_those_of_the_version(fs: AcaiFileSystem) -> None:
    assert [fs.info(f"/img/1.png{version}")["version"] for version in (":1", "@train", "")] == [1, 1, 2]
    assert fs.created("/img/1.png:1") == fs.modified("/img/1.png@train") < fs.created("/img/1.png")
    with pytest.raises(IsADirectoryError):
        fs.created("/img")


def test_a_server_that_is_away_is_an_error_rather_than_nothing(
    fs: AcaiFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACAI_URL", "http://127.0.0.1:9")
    with pytest.raises(ServerUnreachable):
        fs.exists("/img")


# -- writing


def test_a_file_that_is_written_is_a_version_when_it_is_closed(any_lake: Lake, fs: AcaiFileSystem) -> None:
    with fs.open("/written/x", "wb") as file:
        file.write(b"bytes")
        assert not fs.exists("/written/x")
    with fs.open("/written/x", "w") as text:
        text.write("text")
    assert (fs.cat("/written/x:1"), fs.cat("/written/x:2")) == (b"bytes", b"text")
    fs.pipe("/written/x", b"text")
    assert fs.info("/written/x")["version"] == 2
    assert not any_lake.pending()


def test_what_is_compressed_on_the_way_is_a_version_too(fs: AcaiFileSystem) -> None:
    for name, compression in (("x.gz", "infer"), ("x", "bz2")):
        with fs.open(f"/compressed/{name}", "wb", compression=compression) as file:
            file.write(b"content")
        with fs.open(f"/compressed/{name}", "r", compression=compression) as file:
            assert file.read() == "content"
    assert gzip.decompress(fs.cat("/compressed/x.gz:1")) == b"content"


def test_a_large_file_comes_back_as_it_was_written(fs: AcaiFileSystem, tmp_path: Path) -> None:
    content = random.Random(2).randbytes(20 * MIB)
    with fs.open("/large", "wb") as file:
        for start in range(0, len(content), MIB):
            file.write(content[start : start + MIB])
    with fs.open("/large") as file:
        pieces = iter(lambda: file.read(300_000), b"")
        assert hashlib.sha256(b"".join(pieces)).digest() == hashlib.sha256(content).digest()
    fs.get("/large", str(tmp_path / "large"))
    assert (tmp_path / "large").read_bytes() == content


def write_half(fs: AcaiFileSystem, path: str, way: str) -> None:
    """Write the beginning of a file and fail."""
    if way == "a frame that cannot be written":
        pd.DataFrame({"good": [1], "bad": [Unwritable()]}).to_csv(f"acai://{path}")
        return
    opened = {
        "the file": lambda: fs.open(path, "wb"),
        "fsspec": lambda: fsspec.open(f"acai://{path}", "wb"),
        "text": lambda: fs.open(path, "w"),
        "gzip": lambda: fs.open(path, "wb", compression="gzip"),
    }[way]()
    with opened as file:
        file.write("half" if way == "text" else b"half")
        raise Unwritable.Error


class Unwritable:
    """What cannot be written as text."""

    class Error(Exception):
        """It was tried."""

    def __str__(self) -> str:
        raise self.Error


@pytest.mark.parametrize("way", ["the file", "fsspec", "text", "gzip", "a frame that cannot be written"])
def test_half_a_file_is_never_committed(any_lake: Lake, fs: AcaiFileSystem, way: str) -> None:
    path = f"/half/{way.replace(' ', '-')}"
    before = committed(any_lake)
    with pytest.raises(Unwritable.Error):
        write_half(fs, path, way)
    assert not fs.exists(path)
    assert (committed(any_lake), any_lake.pending()) == (before, [])


def test_a_transaction_is_one_upload_session(any_lake: Lake, fs: AcaiFileSystem) -> None:
    before = committed(any_lake)
    with fs.transaction:
        for number in range(5):
            with fs.open(f"/together/{number}", "w") as file:
                file.write(str(number))
        fs.pipe("/together/4", b"the last one counts")
        assert not fs.exists("/together")
    assert committed(any_lake) == before + 1
    assert fs.cat("/together/4:1") == b"the last one counts"
    assert len(fs.find("/together")) == 5


def test_a_transaction_that_fails_commits_nothing(any_lake: Lake, fs: AcaiFileSystem) -> None:
    before = committed(any_lake)

    def fail() -> None:
        with fs.transaction:
            fs.pipe("/failed/1", b"whole")
            raise Unwritable.Error

    with pytest.raises(Unwritable.Error):
        fail()
    assert (committed(any_lake), fs.exists("/failed")) == (before, False)
    fs.pipe("/failed/2", b"afterwards it goes on")
    assert fs.find("/failed") == ["/failed/2"]


def test_a_transaction_inside_another_is_refused_and_commits_nothing(fs: AcaiFileSystem) -> None:
    def nest() -> None:
        with fs.transaction:
            fs.pipe("/nested", b"outer")
            with fs.transaction:
                pass

    with pytest.raises(RuntimeError, match="a transaction open"):
        nest()
    assert not fs.exists("/nested")


def test_files_of_this_disk_go_up_in_one_session(any_lake: Lake, fs: AcaiFileSystem, tmp_path: Path) -> None:
    (tmp_path / "tree" / "sub").mkdir(parents=True)
    for name in ("a", "b", "sub/c"):
        (tmp_path / "tree" / name).write_text(name)
    before = committed(any_lake)
    fs.put(str(tmp_path / "tree"), "/up", recursive=True)
    fs.pipe({"/up/d": b"d", "/up/e": b"e"})
    fs.copy("/up/d", "/up/f")
    assert committed(any_lake) == before + 3
    names = {"a": b"a", "b": b"b", "d": b"d", "e": b"e", "f": b"d", "sub/c": b"sub/c"}
    assert fs.cat(fs.find("/up")) == {f"/up/{name}": content for name, content in names.items()}
    with fs.transaction:
        fs.put_file(str(tmp_path / "tree" / "a"), "/up/g")
        (tmp_path / "tree" / "a").unlink()
    assert fs.cat("/up/g") == b"a"


def test_what_is_written_is_never_written_over_with_x(fs: AcaiFileSystem) -> None:
    with fs.open("/exclusive", "xb") as file:
        file.write(b"x")
    with pytest.raises(FileExistsError):
        fs.open("/exclusive", "xb")
    with pytest.raises(io.UnsupportedOperation, match="does not change"):
        fs.open("/exclusive", "ab")


@pytest.mark.usefixtures("images")
@pytest.mark.parametrize("path", ["/img/1.png@train", "/img/1.png@train:1", "/img/1.png:1", "/img/new.png@train"])
def test_versions_and_sets_are_read_only(fs: AcaiFileSystem, path: str) -> None:
    plain = path.partition("@")[0].partition(":")[0]
    for write in (
        lambda: fs.open(path, "wb"),
        lambda: fs.pipe(path, b""),
        lambda: fs.put_file(__file__, path),
        lambda: fs.mkdir(path),
    ):
        with pytest.raises(PermissionError, match=f"never changes; write to '{plain}'"):
            write()


@pytest.mark.usefixtures("images")
def test_removing_is_the_servers(fs: AcaiFileSystem) -> None:
    fs.pipe("/removed/x", b"1")
    fs.pipe("/removed/x", b"2")
    fs.pipe({"/removed/y": b"y", "/removed/sub/z": b"z"})
    fs.rm("/removed/x:2")
    assert fs.cat("/removed/x") == b"1"
    fs.rm("/removed", recursive=True)
    assert not fs.exists("/removed")
    with pytest.raises(Conflict, match="in file set train:1"):
        fs.rm("/img/2.png")
    with pytest.raises(PermissionError, match="never changes"):
        fs.rm("/img/2.png@train")


# -- getting


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("images")
def test_a_folder_of_a_set_is_laid_out_under_its_own_names(fs: AcaiFileSystem, tmp_path: Path) -> None:
    fs.get("acai:///img/sub/@train:1", str(tmp_path / "new"), recursive=True)
    names = {name: f"sub/{name}, the first time" for name in ("3.png", "4@5:6%.png")}
    assert tree(tmp_path / "new") == names
    (tmp_path / "there").mkdir()
    fs.get("acai:///img/sub@train:1", str(tmp_path / "there"), recursive=True)
    assert tree(tmp_path / "there") == {f"sub/{name}": text for name, text in names.items()}
    fs.get("acai:///img/*.png@train", str(tmp_path / "some"))
    assert tree(tmp_path / "some") == {name: f"{name}, the first time" for name in ("1.png", "2.png")}
    fs.get(["/img/1.png", "/img/9.png"], [str(tmp_path / "one"), str(tmp_path / "nine")])
    assert (tmp_path / "one").read_text() == "1.png, again"


# -- the libraries


@pytest.mark.usefixtures("fs")
def test_pandas_reads_and_writes() -> None:
    TABLE.to_csv("acai:///pandas/x.csv", index=False)
    TABLE.to_parquet("acai:///pandas/x.parquet")
    pd.testing.assert_frame_equal(pd.read_csv("acai:///pandas/x.csv"), TABLE)
    assert pd.read_parquet("acai:///pandas/x.parquet:1", columns=["word"])["word"].tolist() == list("aabbcc")
    TABLE.to_json("acai:///pandas/x.json", orient="records", lines=True)
    assert pd.read_json("acai:///pandas/x.json", lines=True)["number"].tolist() == list(range(6))
    TABLE.to_csv("acai:///pandas/x.csv.gz", index=False)
    pd.testing.assert_frame_equal(pd.read_csv("acai:///pandas/x.csv.gz"), TABLE)
    pd.testing.assert_frame_equal(pd.read_csv("acai:///pandas/x.csv.gz:1", compression="gzip"), TABLE)


@pytest.mark.usefixtures("fs")
def test_pandas_reads_a_set_as_it_was(any_lake: Lake) -> None:
    any_lake.place.write("hotpot/train.json", '{"question": 1}\n')
    any_lake.typed("put", "hotpot", "/hotpot", "--as", "HotpotQA")
    any_lake.place.write("hotpot/train.json", '{"question": 2}\n')
    any_lake.typed("put", "hotpot", "/hotpot", "--as", "HotpotQA")
    found = [
        pd.read_json(f"acai:///hotpot/train.json@HotpotQA{version}", lines=True)["question"].item()
        for version in (":1", ":2", "")
    ]
    assert found == [1, 2, 2]


def test_partitions_are_written_and_read(any_lake: Lake, fs: AcaiFileSystem) -> None:
    TABLE.to_parquet("acai:///parts/pandas", partition_cols=["word"])
    before = committed(any_lake)
    with fs.transaction:
        ds.write_dataset(
            pa.Table.from_pandas(TABLE),
            "/parts/arrow",
            filesystem=fs,
            format="parquet",
            partitioning=["word"],
            partitioning_flavor="hive",
        )
    assert committed(any_lake) == before + 1
    for name in ("pandas", "arrow"):
        assert len(fs.glob(f"/parts/{name}/word=*/*.parquet")) == 3
        found = pd.read_parquet(f"acai:///parts/{name}", filters=[("word", "==", "b")])
        assert found["number"].tolist() == [2, 3]
    dataset = ds.dataset("/parts/arrow", filesystem=fs, partitioning="hive")
    assert dataset.to_table(filter=ds.field("word") == "c").column("number").to_pylist() == [4, 5]
    lazy = pl.scan_pyarrow_dataset(dataset).filter(pl.col("word") == "a").select("number")
    assert lazy.collect()["number"].to_list() == [0, 1]


def test_pyarrow_takes_a_url_with_fsspec_before_it(any_lake: Lake, fs: AcaiFileSystem) -> None:
    TABLE.to_parquet(any_lake.place.work / "x.parquet")
    any_lake.typed("put", "x.parquet", "/arrow/x.parquet", "--as", "arrow")
    assert pq.read_table("fsspec+acai:///arrow/x.parquet@arrow", columns=["number"]).num_rows == 6
    assert ds.dataset("fsspec+acai:///arrow/@arrow:1").count_rows() == 6
    assert pq.ParquetFile("/arrow/x.parquet@arrow", filesystem=fs).metadata.num_columns == 2


def test_a_column_of_a_large_parquet_file_is_a_small_part_of_it(fs: AcaiFileSystem) -> None:
    rows = 40_000
    noise = random.Random(3)
    columns = {f"c{number}": [noise.random() for _ in range(rows)] for number in range(20)}
    with fs.open("/wide.parquet", "wb") as file:
        pq.write_table(pa.table(columns), file, row_group_size=rows // 4)
    with fs.open("/wide.parquet") as file:
        found = pq.ParquetFile(file).read(columns=["c7"])
        assert file.size > 6 * MIB
        assert file.cache.total_requested_bytes < file.size / 10
    assert found.column("c7").to_pylist() == columns["c7"]
    with fs.open("/wide.parquet") as file:
        assert pl.read_parquet(file, columns=["c7"])["c7"].to_list() == columns["c7"]


@pytest.mark.usefixtures("fs")
def test_polars_reads_with_pyarrow_or_from_an_open_file() -> None:
    with fsspec.open("acai:///polars/x.parquet", "wb") as file:
        pl.from_pandas(TABLE).write_parquet(file)
    with fsspec.open("acai:///polars/x.csv", "wb") as file:
        pl.from_pandas(TABLE).write_csv(file)
    assert pl.read_parquet("acai:///polars/x.parquet", use_pyarrow=True).height == 6
    assert pl.read_csv("acai:///polars/x.csv:1", use_pyarrow=True).height == 6
    with fsspec.open("acai:///polars/x.parquet:1") as file:
        assert pl.scan_parquet(file).filter(pl.col("word") == "b").collect()["number"].to_list() == [2, 3]


def test_a_partitioned_folder_of_a_set_is_one_table_and_stays_it(any_lake: Lake, fs: AcaiFileSystem) -> None:
    local = any_lake.place.work / "table"
    TABLE.to_parquet(local, partition_cols=["word"])
    any_lake.typed("put", "table", "/table", "--as", "table")
    TABLE.to_parquet("acai:///table", partition_cols=["word"])
    assert pd.read_parquet("acai:///table").shape == (12, 2)
    for folder in ("/table@table:1", "/@table:1/table"):
        assert pd.read_parquet(f"acai://{folder}").shape == TABLE.shape
        found = ds.dataset(folder, filesystem=fs, partitioning="hive").to_table(filter=ds.field("word") == "c")
        assert found.column("number").to_pylist() == [4, 5]
    with duck(fs) as db:
        query = (
            "SELECT count(*), max(word) FROM read_parquet('acai:///table/*/*.parquet@table:1', hive_partitioning=true)"
        )
        assert db.sql(query).fetchall() == [(6, "c")]


@contextmanager
def duck(fs: AcaiFileSystem) -> Iterator[Any]:
    with duckdb.connect() as connection:
        connection.register_filesystem(fs)
        yield connection


def test_duckdb_queries_and_writes(images: Lake, fs: AcaiFileSystem) -> None:
    images.place.write("duck/x.csv", "a,b\n1,x\n2,y\n")
    images.typed("put", "duck", "/duck", "--as", "duck")
    with duck(fs) as db:
        assert db.sql("SELECT sum(a) FROM read_csv('acai:///duck/*.csv@duck:1')").fetchall() == [(3,)]
        assert db.sql("SELECT b FROM 'acai:///duck/x.csv' WHERE a = 2").fetchall() == [("y",)]
        db.sql("COPY (SELECT 7 AS a) TO 'acai:///duck/out.parquet'")
        assert db.sql("SELECT a FROM 'acai:///duck/out.parquet'").fetchall() == [(7,)]
        db.sql("COPY (SELECT 7 AS a, 8 AS b) TO 'acai:///duck/parts' (FORMAT parquet, PARTITION_BY (b))")
        assert db.sql("SELECT a, b FROM read_parquet('acai:///duck/parts/*/*.parquet')").fetchall() == [(7, 8)]


# -- bad days of the store


@pytest.fixture
def weak(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A file system whose S3 can misbehave."""
    with (
        proxied(request.getfixturevalue("s3_server").url) as proxy,
        lake("s3", tmp_path, request, proxy.url) as found,
    ):
        yield connected(found, monkeypatch), proxy, found


@pytest.mark.s3
def test_a_url_that_has_expired_is_asked_for_again_once(weak: Any) -> None:
    fs, proxy, _ = weak
    fs.pipe("/x", b"0123456789" * 10_000)
    with fs.open("/x") as file:
        proxy.misbehave(Trouble.EXPIRED, "GET", times=1)
        assert file.read(10) == b"0123456789"
        proxy.misbehave(Trouble.EXPIRED, "GET")
        file.seek(-10, os.SEEK_END)
        with pytest.raises(StoreUnavailable, match="403"):
            fs.cat("/x")


@pytest.mark.s3
def test_wrong_bytes_are_not_handed_over_when_all_is_read(weak: Any) -> None:
    fs, proxy, _ = weak
    for path in ("/x", "/y"):
        fs.pipe(path, b"0123456789" * 10_000)
    with fs.open("/y", "r") as file:
        proxy.misbehave(Trouble.WRONG, "GET")
        with pytest.raises(AcaiError, match="The stored bytes of '/x:1' are damaged"):
            fs.cat("/x")
        with pytest.raises(AcaiError, match=r"not those that were recorded|of '/y:1' are damaged"):
            file.read()


@pytest.mark.s3
def test_neighbours_are_fetched_together(weak: Any) -> None:
    fs, proxy, _ = weak
    content = random.Random(4).randbytes(MIB)
    fs.pipe("/x", content)
    starts = [*range(0, 10_000, 500), 900_000]
    proxy.requests.clear()
    found = fs.cat_ranges(["/x"] * len(starts), starts, [start + 100 for start in starts])
    assert found == [content[start : start + 100] for start in starts]
    assert sum(method == "GET" for method, _, _ in proxy.requests) == 2


@pytest.mark.s3
def test_a_store_that_takes_nothing_leaves_no_version_and_no_session(weak: Any) -> None:
    fs, proxy, found = weak
    proxy.misbehave(Trouble.EXPIRED, "PUT")
    with pytest.raises(StoreUnavailable), fs.open("/x", "wb") as file:
        file.write(b"x" * 1000)
    assert (fs.exists("/x"), found.pending()) == (False, [])
