"""A warm run of bash is `bash main.sh` to the byte. Every program of tests/data/exact/bash runs from a pool and in a
service without pools, and the results must be the same."""

import pytest

from corpus import Corpus

corpus = Corpus("bash", (".sh",), language="bash", kinds=("bash",))


@pytest.fixture(scope="module")
def runs():
    return corpus.results()


@pytest.mark.parametrize("name", corpus.names)
def test_warm_bash_is_the_bare_interpreter(runs, name):
    corpus.check(name, *runs[name])
