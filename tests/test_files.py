"""Files written whole: what is there stays what it was, but for its content."""

import os
import stat

import pytest

from windvane.errors import StorageFailure
from windvane.files import whole, write_csv, write_text, writing


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o644, 0o755])
def test_the_mode_is_kept(tmp_path, bits):
    page = tmp_path / "page.txt"
    page.write_text("before")
    page.chmod(bits)
    write_text(page, "after")
    assert (page.read_text(), mode(page)) == ("after", bits)


def test_a_new_file_has_the_mode_that_any_has(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "ours.txt", "a")
        (tmp_path / "theirs.txt").write_text("a")
    finally:
        os.umask(before)
    assert mode(tmp_path / "ours.txt") == mode(tmp_path / "theirs.txt") == 0o640


@pytest.mark.parametrize("relative", [False, True])
def test_a_link_stays_a_link(tmp_path, relative):
    (tmp_path / "store").mkdir()
    target = tmp_path / "store" / "page.txt"
    target.write_text("before")
    target.chmod(0o640)
    link = tmp_path / "latest.txt"
    link.symlink_to("store/page.txt" if relative else target)
    write_text(link, "after")
    assert link.is_symlink()
    assert (target.read_text(), mode(target)) == ("after", 0o640)
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["latest.txt", "page.txt", "store"]


def test_a_link_to_what_is_not_there_yet(tmp_path):
    link = tmp_path / "latest.txt"
    link.symlink_to(tmp_path / "page.txt")
    write_text(link, "first")
    assert link.is_symlink()
    assert (tmp_path / "page.txt").read_text() == "first"


@pytest.mark.parametrize("linked", [False, True])
def test_a_failure_leaves_everything_as_it_was(tmp_path, linked):
    page = tmp_path / "page.txt"
    page.write_text("before")
    page.chmod(0o640)
    where = page
    if linked:
        where = tmp_path / "latest.txt"
        where.symlink_to(page)
    before = sorted(tmp_path.iterdir())

    def fails():
        with whole(where) as draft:
            draft.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert (page.read_text(), mode(page), sorted(tmp_path.iterdir())) == ("before", 0o640, before)


def test_a_link_in_a_circle_is_an_error_of_the_system(tmp_path):
    link = tmp_path / "page.txt"
    link.symlink_to(link)
    with pytest.raises(OSError, match=r"symbolic links|Symlink loop"):
        write_text(link, "a")


def test_what_the_system_says_names_the_place_and_comes_with_advice(tmp_path):
    page = tmp_path / "none" / "page.txt"
    with pytest.raises(StorageFailure) as caught, writing("--out here", "choose another"):
        page.write_text("a")
    assert str(caught.value) == "--out here: No such file or directory; choose another"
    with pytest.raises(StorageFailure) as caught, writing(tmp_path, "choose another", inside=True):
        page.write_text("a")
    assert str(caught.value).startswith(f"{page}: ")
    with pytest.raises(StorageFailure) as caught, writing(tmp_path, "choose another", inside=True):
        raise OSError("no space")
    assert str(caught.value) == f"{tmp_path}: no space; choose another"


def test_an_error_that_is_ours_already_stays_as_it_is(tmp_path):
    ours = StorageFailure("page.txt: is a folder")
    with pytest.raises(StorageFailure) as caught, writing(tmp_path, "choose another"):
        raise ours
    assert caught.value is ours


def test_a_table_has_the_names_of_its_columns_first(tmp_path):
    write_csv(tmp_path / "table.csv", [["name", "y"], ["a, b", 0.5], ["c", None]])
    assert (tmp_path / "table.csv").read_bytes() == b'name,y\n"a, b",0.5\nc,\n'
