"""A warm run of Node is `node main.js` to the byte. Every program of tests/data/exact/node runs from a pool and in a
service without pools, where each run starts the interpreter. The results must be the same."""

import pytest

from corpus import Corpus

corpus = Corpus("node", (".js", ".mjs", ".cjs"), language="javascript", kinds=("node",))


@pytest.fixture(scope="module")
def runs():
    return corpus.results()


@pytest.mark.parametrize("name", corpus.names)
def test_warm_node_is_the_bare_interpreter(runs, name):
    corpus.check(name, *runs[name])
