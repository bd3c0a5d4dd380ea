"""A judge: one submission, many tests, verdicts as in a programming contest.

    PYTHONPATH=sdk/python python3 examples/agents/judge.py [FILE [LANGUAGE]]
"""

import sys

from belljar import Belljar

TESTS = [{"name": "small", "stdin": "2 3\n", "expected": "5"},
         {"name": "negative", "stdin": "-7 2\n", "expected": "-5"},
         {"name": "large", "stdin": "1000000000000 1\n", "expected": "1000000000001"}]
SUBMISSION = """\
#include <stdio.h>
int main(void)
{
    int a, b; /* too small for one of the tests */
    scanf("%d %d", &a, &b);
    printf("%d\\n", a + b);
}
"""
WORDS = {"ok": "wrong answer", "timeout": "time limit exceeded", "cpu_timeout": "time limit exceeded",
         "memory_limit": "memory limit exceeded", "runtime_error": "runtime error",
         "compile_error": "compilation error"}


def judge(jar, code, language):
    """Prints a line for each test as it finishes; how many passed."""
    run = {"language": language, "code": code, "limits": {"wall_ms": 2000, "memory": "128m"}}
    for event in jar.stream_batch(run=run, inputs=TESTS, parallel=2):
        if event.event == "done":
            print(f"{event.summary.passed} of {event.summary.total} tests passed")
            return event.summary.passed
        result = event.result
        word = "accepted" if result.passed else WORDS.get(result.verdict, result.verdict)
        note = f": expected {result.difference.expected!r}, got {result.difference.got!r}" if result.difference else ""
        print(f"{result.name}: {word}{note} ({result.usage.cpu_ms:.0f} ms)")


if __name__ == "__main__":
    code = open(sys.argv[1]).read() if len(sys.argv) > 1 else SUBMISSION
    with Belljar() as jar:
        judge(jar, code, sys.argv[2] if len(sys.argv) > 2 else "c")
