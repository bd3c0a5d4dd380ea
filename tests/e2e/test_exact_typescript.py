"""A warm run of TypeScript is `node -r register.js main.ts` to the byte. Every program of tests/data/exact/typescript
runs from a pool and in a service without pools, where each run starts the interpreter. The results must be the same."""

import pytest

from corpus import Corpus

corpus = Corpus("typescript", (".ts", ".mts", ".cts", ".tsx"), language="typescript", kinds=("typescript",))


@pytest.fixture(scope="module")
def runs():
    return corpus.results()


@pytest.mark.parametrize("name", corpus.names)
def test_warm_typescript_is_the_cold_one(runs, name):
    corpus.check(name, *runs[name])
