"""Best of N: several ideas run side by side, each in a copy of the session, and the session goes on as the best one.

    PYTHONPATH=sdk/python python3 examples/agents/best_of_n.py
"""

from belljar import Belljar

CANDIDATES = [  # as several samples of a model
    "def slug(text): return text.lower().replace(' ', '-')",
    "import re\ndef slug(text): return re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-')",
    "def slug(text): return text.slugify()",
]
SETUP = "cases = {'Hello World': 'hello-world', 'C & C++': 'c-c', ' trim me ': 'trim-me'}"
SCORE = "sum(slug(given) == wanted for given, wanted in cases.items())"

with Belljar() as jar, jar.session("python") as session:
    session.run(SETUP, check=True)
    found = session.branches(CANDIDATES, keep="best", score=SCORE)
    for result in found.results:
        score = result.score.value if result.score else None
        print(f"candidate {result.index}: {result.outcome}, score {score}")
    print(f"the session goes on as candidate {found.winner}")
    print(session.run("slug('Best of N!')", check=True).text)
