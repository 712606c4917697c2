from hypothesis import given
from hypothesis import strategies as st

from automodel_core.cli.preview_text import render_preview
from automodel_core.data.preview import (
    DataPreview,
    PreviewSample,
    Segment,
    measure_lengths,
    padding_share,
)
from automodel_core.data.row_report import RowReport


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=60), st.integers(1, 12))
def test_every_length_is_in_one_bin_and_bins_follow_each_other(lengths, bins):
    measured = measure_lengths(lengths, bins)
    assert len(measured.bins) <= bins
    assert sum(b.samples for b in measured.bins) == len(lengths)
    for found in measured.bins:
        assert found.samples == sum(found.shortest <= length <= found.longest for length in lengths)
    assert (measured.bins[0].shortest, measured.bins[-1].longest) == (min(lengths), max(lengths))


def test_the_share_of_padding_is_of_all_positions():
    assert padding_share([2, 4, 3], [[0, 1], [2]]) == 2 / 11
    assert padding_share([5], [[0]]) == 0.0


def preview(*segments: Segment) -> DataPreview:
    return DataPreview(
        split="train",
        samples=(PreviewSample(0, 5, 2, segments),),
        count=2,
        tokens=20,
        learned=5,
        batch_size=4,
        padding_share=0.25,
        lengths=measure_lengths([8, 12]),
        report=RowReport("data.jsonl", 4, 2, 1, 1, {"without an answer": 2}),
    )


def test_what_is_learned_stands_in_brackets_where_there_is_no_colour():
    shown = render_preview(preview(Segment("ask\n", False), Segment("say<end>", True)), colour=False)
    assert "sample 0: 5 tokens, 2 learned\nask\n[[say<end>]]" in shown
    for figure in ("25.0% of batches of 4", "5 tokens, 25.0%", "left out: 2 without an answer", "1 in another split"):
        assert figure in shown
    assert "\x1b" not in shown


def test_what_is_learned_is_underlined_on_every_line_of_a_terminal():
    shown = render_preview(preview(Segment("a\nb", True)), colour=True)
    assert "\x1b[4;32ma\x1b[0m\n\x1b[4;32mb\x1b[0m" in shown
    assert "[[" not in shown


def test_data_cannot_steer_the_terminal():
    shown = render_preview(preview(Segment("\x1b[2Jgone\r\x07é漢", False)), colour=False)
    assert "\\x1b[2Jgone\\r\\x07é漢" in shown


def test_a_long_context_is_shown_in_part_and_an_answer_whole():
    shown = render_preview(preview(Segment("x" * 5000, False), Segment("y" * 5000, True)), colour=False)
    assert "3,400 characters" in shown
    assert "y" * 5000 in shown
