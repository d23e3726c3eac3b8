"""What the tests of probes share."""

import pytest

from app.probes import seeds


def _last(generator):
    seeds.forget()  # so that two answers that are compared are two computations
    answers = [answer for answer in generator if answer is not None]
    assert answers[-1].done == answers[-1].total
    return answers[-1]


@pytest.fixture(scope="session")
def last():
    """last(probe(config)): the complete Result."""
    return _last


@pytest.fixture(scope="session")
def agrees():
    """agrees(ours, our_se, reference, reference_se): the rule for comparing two samplings."""

    def agree(ours, our_se, reference, reference_se):
        return abs(ours - reference) <= 4 * (our_se**2 + reference_se**2) ** 0.5

    return agree
