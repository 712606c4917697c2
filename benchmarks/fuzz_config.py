"""Mutated and generated configs through `automodel config validate`, in one process.

    python benchmarks/fuzz_config.py [--minutes 10] [--seed 0] [--save fuzz-failures]

Starters and examples are mutated by bytes, lines, tokens and values; documents are written from the sections of the
vocabulary; both get overrides and references. Each input must end in a verdict: valid, or errors that each have a code.
Fails, and saves the input, when anything but an InputError is raised, when a result has no known code, or when an input
takes longer than two seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from automodel_core.cli import config_tool
from automodel_core.cli.command_line import CommandLine
from automodel_core.config.overrides import known_keys
from automodel_core.config.source import load_yaml, read_yaml_text
from automodel_core.diagnostics import CODES
from automodel_core.errors import InputError
from automodel_core.plugins import Catalog

ROOT = Path(__file__).parents[1]
LIMIT_SECONDS = 2.0
HANG_SECONDS = 10.0
TOKENS = [
    *("{", "}", "[", "]", ":", ": ", "- ", ", ", "'", '"', "#", "&a ", "*a", "<<: *a", "!!int ", "!x ", "|\n", ">\n"),
    *("? ", "---\n", "...\n", "%YAML 1.2\n", "\t", "\n", "  ", "\r\n", "\r", "=", "[[a]]\n", "[rng]\n", '"""', "''"),
    *("${", "}", "${rng.seed}", "${env:HOME}", "${env:X,1}", "${asset:x}", "$${", "${x-a}", "_target_", "_args_"),
    *("_partial_", "extends", "\0", "\ufeff", "\x85", "\u2028", "\x1b[31m", "\U0001f600", "é", "none", "~", "*_proj"),
]
VALUES = [
    *("null", "true", "yes", "0", "-1", "1", "1e-5", "'1e-5'", "1e999", "9" * 40, "9" * 2000, ".nan", ".inf", "-.inf"),
    *("0o17", "0xff", "1_000", "''", "text", "[]", "{}", "[1, x]", "{a: 1}", "[[[[]]]]", "none", "${rng.seed}"),
    *("'${env:HOME}'", "${step_scheduler}", "${model}", "torch.optim.AdamW", "os.system", "torch.nn.Linear", "torch"),
    *("{_target_: torch.nn.Linear}", "{_target_: torch.nn, _args_: [1]}", "{_target_: 3}", "2024-01-01", "fsdp2"),
    *(
        "torch.nn.functional",
        "torch.optim.AdamW.step",
        "automodel_llm.x",
        "/",
        ".",
        "NeMoAutoModelForCausalLM",
        "a.b.c",
    ),
]
Rng = random.Random


class HangError(BaseException):
    """An input that takes too long."""


def documents() -> list[str]:
    """Return the texts that are mutated: everything shipped, and the seed's config."""
    paths = [
        *ROOT.glob("packages/*/src/*/starters/*.yaml"),
        *ROOT.glob("examples/*.yaml"),
        ROOT / "tests/data/seed.yaml",
    ]
    return [path.read_text(encoding="utf-8") for path in sorted(paths)]


def as_toml(data: dict[str, Any]) -> str:
    """Return the tables of a config as TOML, as far as it can say them."""
    lines = []
    for section, value in data.items():
        if not isinstance(value, dict):
            continue
        lines.append(f"[{json.dumps(section)}]")
        lines += [f"{json.dumps(key)} = {_toml_value(item)}" for key, item in value.items() if item is not None]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def change_bytes(text: str, rng: Rng) -> bytes:
    """Flip, drop, insert or repeat a few bytes."""
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        change = rng.randrange(4)
        if change == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[at : at + rng.randint(1, 12)]
        elif change == 2:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 3)))
        else:
            data[at:at] = data[at : at + rng.randint(1, 40)] * rng.randint(1, 3)
    return bytes(data)


def change_lines(text: str, rng: Rng) -> str:
    """Drop, repeat, move, indent or comment a few lines."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 5)):
        if not lines:
            break
        at = rng.randrange(len(lines))
        changed: list[str] = rng.choice(
            [
                [],
                [lines[at]] * 2,
                ["  " + lines[at]],
                [lines[at][1:]],
                ["\t" + lines[at]],
                [lines[at] + ":"],
                ["- " + lines[at]],
            ]
        )
        lines[at : at + 1] = changed
        if rng.random() < 0.2:
            rng.shuffle(lines)
    return "\n".join(lines) + "\n"


def change_tokens(text: str, rng: Rng) -> str:
    """Put signs of the syntax into the middle of the text."""
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(TOKENS) + text[at + rng.choice((0, 0, 1, 3)) :]
    return text


def change_values(text: str, rng: Rng) -> str:
    """Give keys other values, or other names."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(lines))
        key, colon, value = lines[at].partition(": ")
        if colon and rng.random() < 0.8:
            lines[at] = f"{key}: {rng.choice(VALUES)}"
        elif colon:
            lines[at] = f"{key[: rng.randrange(len(key) + 1)]}{rng.choice('xs_-')}: {value}"
    return "\n".join(lines) + "\n"


MUTATIONS: Sequence[Callable[[str, Rng], str | bytes]] = (change_bytes, change_lines, change_tokens, change_values)


def generated(keys: Sequence[str], rng: Rng) -> str:
    """Write a document of known and unknown keys with any values."""
    sections: dict[str, list[str]] = {}
    for _ in range(rng.randint(1, 12)):
        section, _, field = rng.choice(keys).partition(".")
        sections.setdefault(section, []).append(field or rng.choice(("_target_", "path", "x", "enabled", "lr")))
    lines = []
    for section, fields in sections.items():
        if rng.random() < 0.1:
            lines.append(f"{section}: {value(rng)}")
            continue
        lines.append(f"{section}:" + rng.choice(("", "", " &a", " !!map")))
        lines += [f"  {field}: {value(rng)}" for field in fields]
    return "\n".join(lines) + "\n"


def value(rng: Rng, depth: int = 0) -> str:
    """Write a value in flow style."""
    kind = rng.random()
    if kind < 0.75 or depth > 4:
        return rng.choice(VALUES)
    items = [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    if kind < 0.85:
        return "[" + ", ".join(items) + "]"
    names = ("_target_", "_args_", "_partial_", "a", "lr", "x_fn", "path")
    return "{" + ", ".join(f"{rng.choice(names)}: {item}" for item in items) + "}"


def overrides(keys: Sequence[str], rng: Rng) -> list[str]:
    """Write words of a command line that change a config, or try to."""
    words = []
    for _ in range(rng.choice((0, 0, 1, 2, 4))):
        key = rng.choice(keys) + rng.choice(
            ("", "", "", "", "", "", ".x", "[0]", ".0", "[-1]", rng.choice(("..", ".a.b.c")))
        )
        text = value(rng)
        form = rng.choice(
            ("--{}={}", "{}={}", "{}={}", "+{}={}", "~{}", "--{} {}", rng.choice(("--{}", "{}", "-{}={}")))
        )
        words += form.format(key, text).split(" ", 1) if form == "--{} {}" else [form.format(key, text)]
    return words


def inputs(rng: Rng, keys: Sequence[str]) -> Iterator[tuple[str, bytes, list[str]]]:
    """Yield a file's name, its bytes and the words after it, without end."""
    shipped = documents()
    tables = [as_toml(load_yaml(text)) for text in shipped]
    while True:
        name = "cfg.toml" if rng.random() < 0.25 else "cfg.yaml"
        if name == "cfg.yaml" and rng.random() < 0.4:
            text: str | bytes = generated(keys, rng)
        else:
            text = rng.choice(tables if name == "cfg.toml" else shipped)
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            text = rng.choice(MUTATIONS)(text if isinstance(text, str) else text.decode("utf-8", "replace"), rng)
            text = text or "\n"
        yield name, text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"), overrides(keys, rng)


def codes_of(path: str, words: Sequence[str], catalog: Catalog) -> list[str]:
    """Return the codes of what `config validate` finds. Whatever else it raises is not caught."""
    out = io.StringIO()
    line = CommandLine(("config", "validate", "-c", path, "--json", *words))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            config_tool.main(line, catalog)
        except InputError as error:
            return [found.code for found in error.diagnostics]
    verdict = json.loads(out.getvalue())
    verdicts = verdict if isinstance(verdict, list) else [verdict]
    if any(not one["valid"] and not one["diagnostics"] for one in verdicts):
        return [""]
    return [found["code"] for one in verdicts for found in one["diagnostics"]]


def hang(*_: object) -> None:
    raise HangError


@attrs.define
class Tally:
    """What was seen so far, and what failed."""

    save: Path
    seen: Counter[str] = attrs.field(factory=Counter)
    inputs: int = 0
    failures: int = 0
    spent: float = 0.0
    slowest: float = 0.0
    slowest_bytes: int = 0

    def check(self, name: str, data: bytes, words: list[str], catalog: Catalog) -> None:
        """Give one input to the loader, and keep it when it fails."""
        Path(name).write_bytes(data)
        said = ""
        signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
        started = time.perf_counter()
        try:
            codes = codes_of(name, words, catalog)
            self.seen.update(codes or ["valid"])
            said = "" if set(codes) <= set(CODES) else f"no code: {codes}"
        except (Exception, HangError, SystemExit):
            said = traceback.format_exc()
        signal.setitimer(signal.ITIMER_REAL, 0)
        seconds = time.perf_counter() - started
        self.inputs, self.spent = self.inputs + 1, self.spent + seconds
        if seconds > self.slowest:
            self.slowest, self.slowest_bytes = seconds, len(data)
        if said or seconds > LIMIT_SECONDS:
            self.failures += 1
            keep(self.save, self.failures, name, data, words, said or f"{seconds:.1f} s")

    def print(self, seed: int) -> None:
        different = len(set(self.seen) - {"valid"})
        print(
            f"inputs          {self.inputs} in {self.spent:.0f} s, {self.inputs / self.spent:.0f} a second, seed {seed}"
        )
        print(f"codes           {different} different; {self.seen['valid']} inputs were valid")
        print(f"slowest         {self.slowest:.3f} s, {self.slowest_bytes} bytes")
        print(f"failures        {self.failures}" + (f", kept in {self.save}" if self.failures else ""))
        print(f"                {' '.join(f'{code} {number}' for code, number in sorted(self.seen.items()))}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path, default=Path("fuzz-failures"), help="where failing inputs are kept")
    arguments = parser.parse_args()

    catalog = Catalog.discover()
    keys = known_keys(read_yaml_text(documents()[0]), catalog.vocabulary())
    tally = Tally(arguments.save.absolute())
    signal.signal(signal.SIGALRM, hang)
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        end = time.monotonic() + arguments.minutes * 60
        for name, data, words in inputs(Rng(arguments.seed), keys):
            tally.check(name, data, words, catalog)
            if time.monotonic() > end:
                break
    tally.print(arguments.seed)
    return 1 if tally.failures else 0


def keep(directory: Path, number: int, name: str, data: bytes, words: Sequence[str], said: str) -> None:
    """Save a failing input with what it gave, and print the last line of that for the first few."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{number}-{name}").write_bytes(data)
    (directory / f"{number}.txt").write_text(f"{json.dumps(list(words))}\n{said}\n", encoding="utf-8")
    if number <= 20:
        print(f"{name} {str(words)[:200]}: {said.strip().splitlines()[-1][:200]}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
