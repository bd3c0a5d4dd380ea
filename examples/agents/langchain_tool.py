"""A tool for LangChain, and for every framework that takes a function with a description.

    PYTHONPATH=sdk/python python3 examples/agents/langchain_tool.py

One session for a conversation: the variables of a call are there in the next one. With langchain-core installed,
`tool` is a StructuredTool; without it, a class with the same `name`, `description`, `args` and `invoke`.
"""

from belljar import Belljar

DESCRIPTION = ("Runs Python in a sandbox and returns its output. Variables stay from call to call. The value of the "
               "last expression is shown. There is no network.")
LONGEST = 4000  # a model pays for each word


def make_runner(session):
    def run_python(code: str) -> str:
        cell = session.run(code, timeout=20)
        if cell.status != "ok":
            return cell.explain()
        parts = [cell.stdout or "", cell.text or "", *(f"[image of {len(i)} bytes]" for i in cell.images)]
        text = "\n".join(part.rstrip() for part in parts if part.strip()) or "(no output)"
        return text if len(text) <= LONGEST else f"{text[:LONGEST // 2]}\n…\n{text[-LONGEST // 2:]}"

    run_python.__doc__ = DESCRIPTION
    return run_python


def make_tool(session):
    run_python = make_runner(session)
    try:
        from langchain_core.tools import StructuredTool
    except ImportError:
        return PlainTool(run_python)
    return StructuredTool.from_function(run_python, name="run_python", description=DESCRIPTION)


class PlainTool:
    name, description = "run_python", DESCRIPTION
    args = {"code": {"type": "string", "description": "Python code"}}

    def __init__(self, function):
        self.function = function

    def invoke(self, given):
        return self.function(**given)


if __name__ == "__main__":
    with Belljar() as jar, jar.session("python") as session:
        tool = make_tool(session)
        print(tool.name)
        for code in ("import math\nr = 2", "math.pi * r ** 2", "r / 0"):
            print(tool.invoke({"code": code}))
