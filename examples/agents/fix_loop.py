"""An agent that fixes its own code: it runs a program, reads the diagnosis, writes the next version.

    PYTHONPATH=sdk/python python3 examples/agents/fix_loop.py

`Model` stands in for a language model: it answers from a script. Replace `ask` by a call of yours; `messages` has the
usual form.
"""

from belljar import Belljar

TASK = "Print the mean of the numbers 3, 4 and 8."


class Model:
    """The first answers are wrong, as those of models are."""

    answers = [
        "```python\nnumbers = [3, 4, 8]\nprint(sum(numbers) / len(number))\n```",
        "```python\nnumbers = [3, 4, 8]\nprint(sum(numbers) / len(numbers))\n```",
    ]

    def ask(self, messages):
        return self.answers[len(messages) // 2]


def solve(jar, model, attempts=5):
    """The code that works, and its result."""
    messages = [{"role": "user", "content": TASK}]
    for attempt in range(1, attempts + 1):
        answer = model.ask(messages)
        result = jar.run(answer, timeout=5)  # the code is taken out of the Markdown, its language from the fence
        if result.success:
            print(f"attempt {attempt}: {result.stdout.strip()}")
            return result
        print(f"attempt {attempt}:\n{result.explain()}")
        messages += [{"role": "assistant", "content": answer},
                     {"role": "user", "content": f"It failed. Fix it.\n{result.explain()}"}]
    raise SystemExit(f"not solved in {attempts} attempts")


if __name__ == "__main__":
    with Belljar() as jar:
        assert solve(jar, Model()).stdout == "5.0\n"
