"""Where the demonstration data lie, whichever way they came."""

from pathlib import Path

from reproduction.data.obtained import cached, file_obtained, file_of

URL = "https://a.example/files/nhgis%20ppdd_2020.zip"


def test_a_local_file_comes_before_a_download_and_without_either_there_is_none():
    assert file_obtained({"address": URL}, "mine.zip", "cache") == Path("mine.zip")
    assert file_obtained({"address": URL}, None, "cache") == Path("cache") / cached(URL)
    assert file_obtained({"address": ""}, None, "cache") is None


def test_the_same_file_of_two_mirrors_is_kept_twice():
    mirror = URL.replace("a.example", "b.example")
    assert file_of(URL) == file_of(mirror) == "nhgis-ppdd_2020.zip"
    assert cached(URL) != cached(mirror)
    assert cached(URL).endswith("-nhgis-ppdd_2020.zip")
