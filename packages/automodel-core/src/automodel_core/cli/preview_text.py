"""A preview of data for people: samples with what is learned marked, and figures in lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from automodel_core.data.preview import DataPreview, PreviewSample, Segment

_LEARNED_STYLE: Final = "\x1b[4;32m"
_CONTEXT_STYLE: Final = "\x1b[2m"
_RESET: Final = "\x1b[0m"
_LONGEST_CONTEXT: Final = 1600
_WIDEST_BAR: Final = 40


def render_preview(preview: DataPreview, *, colour: bool) -> str:
    """Return the preview. What is learned is underlined in colour, or stands in ``[[`` and ``]]``."""
    blocks = [_sample(sample, colour) for sample in preview.samples]
    blocks.append("\n".join(_figures(preview)))
    blocks.append("\n".join(_histogram(preview)))
    return "\n\n".join(blocks)


def _sample(sample: PreviewSample, colour: bool) -> str:
    head = f"sample {sample.index}: {sample.tokens} tokens, {sample.learned} learned"
    return f"{head}\n" + "".join(_segment(segment, colour) for segment in sample.segments)


def _segment(segment: Segment, colour: bool) -> str:
    text = _printable(segment.text)
    if not segment.learned and len(text) > _LONGEST_CONTEXT:
        half = _LONGEST_CONTEXT // 2
        text = f"{text[:half]} … {len(text) - 2 * half:,} characters … {text[-half:]}"
    if not colour:
        return f"[[{text}]]" if segment.learned else text
    # Line by line: a terminal that wraps or pages starts each line anew.
    style = _LEARNED_STYLE if segment.learned else _CONTEXT_STYLE
    return "\n".join(f"{style}{line}{_RESET}" if line else line for line in text.split("\n"))


def _printable(text: str) -> str:
    """Return ``text`` with escapes for what would steer a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def _figures(preview: DataPreview) -> Iterator[str]:
    report = preview.report
    source = f" of {_printable(report.source)}" if report is not None else ""
    yield f"split {preview.split}{source}: {preview.count:,} samples, {preview.tokens:,} tokens"
    yield f"learned: {preview.learned:,} tokens, {preview.learned_share:.1%}"
    yield f"padding: {preview.padding_share:.1%} of batches of {preview.batch_size}"
    if report is None:
        return
    others = f", {report.other_split:,} in another split" if report.other_split else ""
    yield f"rows: {report.read:,} read{others}, {report.dropped_rows:,} left out"
    if report.truncated:
        yield f"shortened: {report.truncated:,} samples"
    for reason, count in report.dropped.items():
        yield f"  left out: {count:,} {reason}"


def _histogram(preview: DataPreview) -> Iterator[str]:
    lengths = preview.lengths
    yield f"tokens per sample: {lengths.shortest} to {lengths.longest}, median {lengths.median}"
    edges = [f"{b.shortest}-{b.longest}" for b in lengths.bins]
    widest, most = max(map(len, edges)), max(b.samples for b in lengths.bins)
    for edge, found in zip(edges, lengths.bins, strict=True):
        bar = "#" * -(-found.samples * _WIDEST_BAR // most)
        yield f"  {edge:>{widest}}  {found.samples:>{len(str(most))}} {bar}".rstrip()
