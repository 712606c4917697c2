"""Holding rows out: by what they hold, always in the same way."""

import random

from hypothesis import given
from hypothesis import strategies as st

from automodel_core.data.splits import HoldOut

CONTENTS = st.lists(st.dictionaries(st.sampled_from("ab"), st.text(max_size=3), max_size=2), max_size=40)
RULES = st.builds(HoldOut, st.floats(0, 0.99), st.integers(-(2**40), 2**40))


def split(rule: HoldOut, contents: list, name: str) -> list[int]:
    return rule.rows(name, [rule.key(content) for content in contents])


@given(RULES, CONTENTS)
def test_the_two_sides_are_disjoint_and_complete(rule, contents):
    train, held_out = split(rule, contents, "train"), split(rule, contents, "validation")
    assert sorted(train + held_out) == split(rule, contents, "all") == list(range(len(contents)))
    assert not {str(contents[i]) for i in train} & {str(contents[i]) for i in held_out}
    assert train or not contents


@given(RULES, CONTENTS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rule, contents, draw: random.Random):
    shuffled = draw.sample(contents, len(contents))
    first = sorted(str(contents[i]) for i in split(rule, contents, "validation"))
    assert first == sorted(str(shuffled[i]) for i in split(rule, shuffled, "validation"))


@given(st.integers(2, 400), st.floats(0.01, 0.99), st.integers(0, 1000))
def test_the_share_of_different_rows_is_what_was_asked_for(count, fraction, seed):
    held_out = split(HoldOut(fraction, seed), list(range(count)), "validation")
    assert len(held_out) == min(max(round(count * fraction), 1), count - 1)


def test_another_seed_holds_out_other_rows():
    contents = list(range(200))
    assert split(HoldOut(seed=0), contents, "validation") != split(HoldOut(seed=1), contents, "validation")


def test_rows_that_are_added_move_few_of_the_others():
    before = set(split(HoldOut(0.1), list(range(1000)), "validation"))
    after = {i for i in split(HoldOut(0.1), list(range(1100)), "validation") if i < 1000}
    assert len(before - after) <= 20
    assert len(after - before) <= 20
