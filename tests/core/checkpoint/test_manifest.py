import json

import pytest

from automodel_core.checkpoint import manifest as m


def made(tmp_path, **files):
    for name, content in files.items():
        path = tmp_path / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    manifest = m.Manifest(3, 0, 1, {"dp": 1}, "0", m.describe_files(tmp_path))
    (tmp_path / m.MANIFEST).write_text(manifest.to_json())
    return manifest


def test_a_manifest_reads_back_as_it_was_written(tmp_path):
    written = made(tmp_path, weights=b"abc", state__random=b"", empty=b"")
    assert m.read_manifest(tmp_path) == written
    assert [f.path for f in written.files] == ["empty", "state/random", "weights"]


def test_files_are_hashed_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(m, "BLOCK_BYTES", 2)
    (tmp_path / "f").write_bytes(b"abcde")
    blocks = m.hash_blocks(tmp_path / "f")
    assert len(blocks) == 3
    assert len(set(blocks)) == 3


def test_damage_is_found_by_size_at_once_and_by_content_when_asked(tmp_path):
    written = made(tmp_path, a=b"abc", b=b"abc", c=b"abc")
    (tmp_path / "a").unlink()
    (tmp_path / "b").write_bytes(b"ab")
    (tmp_path / "c").write_bytes(b"abd")
    assert len(m.damage(tmp_path, written.files, hashes=False)) == 2
    problems = m.damage(tmp_path, written.files, hashes=True)
    assert ["missing" in problems[0], "2 bytes" in problems[1], "changed" in problems[2]] == [True] * 3


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "other"}', '{"format": "automodel-checkpoint"}', "\x00", '{"format": 1']
)
def test_a_manifest_that_is_not_ours_is_an_error_of_its_own(tmp_path, text):
    (tmp_path / m.MANIFEST).write_text(text)
    with pytest.raises(m.ManifestError):
        m.read_manifest(tmp_path)


def test_a_newer_format_is_refused(tmp_path):
    made(tmp_path, a=b"abc")
    data = json.loads((tmp_path / m.MANIFEST).read_text())
    (tmp_path / m.MANIFEST).write_text(json.dumps({**data, "version": m.VERSION + 1}))
    with pytest.raises(m.ManifestError, match="newer"):
        m.read_manifest(tmp_path)
