"""Whatever stands in a config file, it ends in a config or in an error with a known code, and soon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automodel_core.config import core_vocabulary, load_run_config
from automodel_core.config.rules import ARGUMENT_RULES, RULES
from automodel_core.diagnostics import CODES, render_blocks
from automodel_core.errors import InputError

SOON_SECONDS = 5.0
"""Far above what any of these takes: a test fails for what never ends, not for a busy machine."""
VOCABULARY = core_vocabulary()
STARTERS = sorted(Path(__file__).parents[2].glob("packages/*/src/*/starters/*.yaml"))
BOMB = "x-0: &x0 [a, a]\n" + "".join(f"x-{n}: &x{n} [*x{n - 1}, *x{n - 1}]\n" for n in range(1, 40))
MERGES = "x-0: &m0 {a: 1}\n" + "".join(f"x-{n}: &m{n} {{<<: *m{n - 1}, k{n}: *m{n - 1}}}\n" for n in range(1, 40))
REFERENCES = "x-0: [a, a]\n" + "".join(f"x-{n}: ['${{x-{n - 1}}}', '${{x-{n - 1}}}']\n" for n in range(1, 40))
TEXTS = "x-0: " + "a" * 1000 + "\n" + "".join(f"x-{n}: '${{x-{n - 1}}}${{x-{n - 1}}}'\n" for n in range(1, 40))

YAML = {
    "lists in lists": ("x-a: " + "[" * 20_000, {"AM102", "AM105"}),
    "mappings in mappings": ("x-a: " + "{a: " * 20_000, {"AM105"}),
    "indented lists": ("x-a:\n" + "".join(" " * n + "-\n" for n in range(1, 300)), {"AM105"}),
    "aliases of aliases": (BOMB, {"AM105"}),
    "merges of merges": (MERGES, {"AM105"}),
    "references to references": (REFERENCES, {"AM105"}),
    "texts in texts": (TEXTS, {"AM105"}),
    "a chain of references": ("".join(f"x-{n}: ${{x-{n + 1}}}\n" for n in range(1000)), {"AM120", "AM122"}),
    "a long circle": ("".join(f"x-{n}: ${{x-{(n + 1) % 100}}}\n" for n in range(100)), {"AM122"}),
    "a number without end": ("rng: {seed: " + "9" * 100_000 + "}", {"AM105"}),
    "a large number": ("rng: {seed: " + "9" * 900 + "}", {"AM143"}),
    "a large number for a fraction": ("peft: {alpha: " + "9" * 900 + "}", {"AM142"}),
    "a large exponent": ("peft: {alpha: 1e999}", set()),
    "a small exponent": ("peft: {alpha: 1e-999}", {"AM143"}),
    "a long line": ("x-a: " + "b" * 1_000_000, set()),
    "a long key": ("b" * 1_000_000 + ": 1", {"AM102", "AM140"}),
    "many sections": ("".join(f"k{n}: 1\n" for n in range(100_000)), {"AM105", "AM140"}),
    "many keys of a section": ("rng:\n" + "".join(f"  k{n}: 1\n" for n in range(30_000)), {"AM141"}),
    "many anchors": ("x-a:\n" + "".join(f"  k{n}: &a{n} 1\n" for n in range(25_000)), set()),
    "many duplicates": ("a: 1\n" * 10_000, {"AM103"}),
    "many documents": ("---\na: 1\n" * 10_000, {"AM102"}),
    "an anchor in itself": ("x-a: &a [*a]", {"AM105"}),
    "an anchor in itself through a merge": ("x-a: &a {<<: *a}", {"AM105"}),
    "an anchor on a key": ("&a rng: {seed: 1}", set()),
    "an alias as a key": ("x-a: &a rng\n*a : {seed: 1}", set()),
    "a merge of a list of mappings": ("x-a: &a {seed: 1}\nrng:\n  <<: [*a, *a]", set()),
    "a merge of nothing": ("rng:\n  <<:\n  seed: 1", {"AM106"}),
    "a quoted merge key": ("rng:\n  '<<': {seed: 1}", {"AM141"}),
    "an anchor of nothing": ("rng: &a\n", set()),
    "a tag on a mapping": ("rng: !!map {seed: 1}", set()),
    "a wrong tag on a mapping": ("rng: !!seq {seed: 1}", {"AM106"}),
    "a tag of Python": ("x-a: !!python/object/apply:os.system ['true']", {"AM106"}),
    "a tag with a directive": ("%TAG ! tag:x,2000:\n---\nx-a: !y 1", {"AM106"}),
    "another version of YAML": ("%YAML 3.0\n---\nrng: {seed: 1}", {"AM102"}),
    "a complex key": ("? {a: 1}\n: 2", {"AM106"}),
    "an empty key": (": 1", {"AM102", "AM106"}),
    "a zero byte": ("rng: {seed: 1}\0", {"AM101"}),
    "an escape of a zero byte": ('x-a: "\\0"', {"AM106"}),
    "half of a pair": ('x-a: "\\ud800"', {"AM102", "AM106"}),
    "other line breaks": ("rng:\u2028  seed: 1\x85", set()),
    "a page break": ("rng: {seed: 1}\x0c", {"AM101"}),
    "a target without end": ("optimizer: {_target_: " + "a." * 50_000 + "b}", {"AM203"}),
    "dots": ("optimizer: {_target_: ......}", {"AM202"}),
    "nested targets": ("optimizer: " + "{_target_: AdamW, params: " * 60 + "1" + "}" * 60, {"AM105", "AM207"}),
    "a long path": ("x-a: ${" + "a." * 50_000 + "b}", {"AM123"}),
    "many references in a text": ("x-b: 1\nx-a: '" + "${x-b}" * 20_000 + "'", set()),
}
TOML = {
    "lists in lists": ("x-a = " + "[" * 20_000, {"AM102", "AM105"}),
    "tables in tables": ("[" + ".".join("a" * 1 for _ in range(500)) + "]\nb = 1", {"AM105"}),
    "a number without end": ("[rng]\nseed = " + "9" * 100_000, {"AM102", "AM105"}),
    "a large number": ("[rng]\nseed = " + "9" * 900, {"AM143"}),
    "a long key": ("[" + "b" * 500_000 + "]", {"AM140"}),
    "many keys": ("[rng]\n" + "".join(f"k{n} = 1\n" for n in range(10_000)), {"AM141"}),
    "many tables": ("".join(f"[k{n}]\n" for n in range(10_000)), {"AM140"}),
    "many items": ("[[rng]]\n" * 5_000, {"AM145"}),
    "blanks": (" " * 500_000 + "= 1", {"AM102"}),
    "dots": ("." * 100_000 + " = 1", {"AM102"}),
    "quotes": ('"' * 100_001 + " = 1", {"AM102"}),
    "a zero byte": ("x-a = 1\0", {"AM101"}),
    "not a number": ("[peft]\nalpha = nan", {"AM142"}),
    "a time": ("x-a = 07:32:00", {"AM106"}),
}
BYTES = {
    "UTF-16": ("rng: {seed: 1}".encode("utf-16"), {"AM101"}),
    "UTF-32": ("rng: {seed: 1}".encode("utf-32"), {"AM101"}),
    "Latin-1": ("x-a: modèle".encode("latin-1"), {"AM101"}),
    "a byte-order mark": (b"\xef\xbb\xbfrng: {seed: 1}", set()),
    "two byte-order marks": (b"\xef\xbb\xbf\xef\xbb\xbfrng: {seed: 1}", {"AM101"}),
    "half a character": (b"x-a: \xe2\x82", {"AM101"}),
    "a long form": (b"x-a: \xc0\x80", {"AM101"}),
    "an encoded surrogate": (b"x-a: \xed\xa0\x80", {"AM101"}),
    "an archive": (b"PK\x03\x04" + bytes(range(256)) * 20, {"AM101"}),
    "more than four MiB": (b"#" * (4 * 1024 * 1024 + 1), {"AM105"}),
}
FILES = [
    *(("cfg.yaml", f"YAML: {name}", text.encode(), codes) for name, (text, codes) in YAML.items()),
    *(("cfg.toml", f"TOML: {name}", text.encode(), codes) for name, (text, codes) in TOML.items()),
    *(("cfg.yaml", f"bytes: {name}", data, codes) for name, (data, codes) in BYTES.items()),
]


def codes_of(path: Path) -> set[str]:
    """Return the codes of what is wrong with a config, rendered as a user sees it."""
    rules = (*RULES, *ARGUMENT_RULES)
    try:
        found = load_run_config(path, (), VOCABULARY, required=(), environment={"HOME": "/"}, rules=rules).warnings
    except InputError as error:
        found = error.diagnostics
    assert len(render_blocks(found)) < 1_000_000
    return {problem.code for problem in found if problem.severity == "error"}


@pytest.mark.parametrize(
    ("name", "data", "codes"),
    [(name, data, codes) for name, _, data, codes in FILES],
    ids=[title for _, title, _, _ in FILES],
)
def test_a_hostile_file_is_refused_soon(name: str, data: bytes, codes: set[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    started = time.process_time()

    found = codes_of(path)

    assert time.process_time() - started < SOON_SECONDS
    assert found <= set(CODES)
    assert found <= codes
    assert bool(found) == bool(codes)


starters = st.sampled_from([path.read_bytes() for path in STARTERS])
at = st.integers(0, 5000)
changes = st.lists(
    st.tuples(
        st.sampled_from(["flip", "drop", "repeat", "insert", "line", "twice"]), at, st.binary(min_size=1, max_size=4)
    ),
    min_size=1,
    max_size=6,
)


def changed(data: bytes, kind: str, position: int, inserted: bytes) -> bytes:
    """Return a file with one accident in it."""
    lines = data.split(b"\n")
    line = position % len(lines)
    place = position % (len(data) + 1)
    if kind == "line":
        return b"\n".join(lines[:line] + lines[line + 1 :])
    if kind == "twice":
        return b"\n".join(lines[: line + 1] + lines[line:])
    middle = {"drop": b"", "repeat": data[place : place + 8] * 2, "insert": inserted + data[place : place + 1]}
    if kind == "flip":
        return data[:place] + bytes(byte ^ inserted[0] for byte in data[place : place + 1]) + data[place + 1 :]
    return data[:place] + middle[kind] + data[place + {"drop": 5, "repeat": 8, "insert": 1}[kind] :]


@settings(max_examples=300, deadline=None)
@given(starters, changes)
def test_an_accident_in_a_starter_is_a_config_or_an_error_with_a_code(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, accidents: list[tuple[str, int, bytes]]
) -> None:
    for kind, position, inserted in accidents:
        data = changed(data, kind, position, inserted)
    path = tmp_path_factory.getbasetemp() / "accident.yaml"
    path.write_bytes(data)
    assert codes_of(path) <= set(CODES)
