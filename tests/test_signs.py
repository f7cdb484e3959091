"""Signs of printed differences, where these stand out of their errors."""

import pytest

from companion.evidence import statistics

PAPER, SE = [[0.2, 0.6, 0.61], [0.5, 0.1, 0.3]], 0.01


@pytest.mark.parametrize(
    ("ours", "kept"),
    [
        ([[0.1, 0.9, 0.95], [0.9, 0.1, 0.2]], True),
        ([[0.1, 0.9, 0.85], [0.9, 0.1, 0.2]], True),  # 0.60 and 0.61 are within three errors of each other
        ([[0.1, 0.9, 0.95], [0.9, 0.2, 0.1]], False),  # a sign of the second row is another
        ([[0.9, 0.1, 0.95], [0.9, 0.1, 0.2]], False),
        ([[0.5, 0.5, 0.95], [0.9, 0.1, 0.2]], False),  # no difference has no sign
    ],
)
def test_every_printed_difference_beyond_its_error_keeps_its_sign(ours, kept):
    assert statistics.kept(ours, PAPER, SE) is kept


def test_the_errors_of_both_numbers_count():
    swapped = [[0.3, 0.1]]
    paper = [[0.1, 0.2]]
    assert statistics.kept(swapped, paper, [[0.03, 0.03]])  # 0.1 is below 3 * 0.042
    assert not statistics.kept(swapped, paper, [[0.03, 0.0]])
    assert not statistics.kept(swapped, paper, [[0.03, 0.03]], least=2)


def test_columns_are_needed():
    with pytest.raises(ValueError, match=r"ours has shape \(2,\); give rows of columns"):
        statistics.kept([1.0, 2.0], [1.0, 2.0], 0.1)
