from grader.core.packed import packed, unpacked, written

FILES = {"b/two.bin": bytes(range(256)), "a.py": b"x = 1\n", "å.txt": b""}


def test_what_was_packed_is_unpacked():
    assert unpacked(packed(FILES)) == FILES
    assert unpacked(b"") == {}


def test_the_same_files_make_the_same_bytes_in_whatever_order():
    assert packed(FILES) == packed(dict(reversed(FILES.items())))
    assert packed(FILES) != packed({**FILES, "a.py": b"x = 2\n"})


def test_files_are_written_below_a_folder(tmp_path):
    (tmp_path / "a.py").write_text("before")
    written(FILES, tmp_path)
    assert {path: (tmp_path / path).read_bytes() for path in FILES} == FILES
