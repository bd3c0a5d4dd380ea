#!/usr/bin/python3
"""The time of calls through the doors, beside POST /v1/runs, and of calls of clients, beside curl.

    bench/doors.py [--quick]

One service has the doors mcp and e2b. In each round every call is made once, in a random order, on connections that
stay open. Then each client asks for the health of the service in a row, on one connection: curl, and our packages for
Python and TypeScript. The SDKs of E2B create sandboxes, if scripts/test-clients-deps has got them. The table has
medians and the 90th percentile in milliseconds, and for the calls of the SDKs of E2B the median CPU time of the client,
of the keeper and of the warden between the call and its answer, which tells the parts of a time also on a busy machine.
The same numbers go to build/bench/doors.json. The exit status is 1 if a budget is missed."""
import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/lib"), str(ROOT / "sdk/python")]
from belljar import Belljar  # noqa: E402
from service import Service  # noqa: E402

CODE = "print(1)"
# The name of a row, its budget in milliseconds, and the row that is subtracted from it first.
BUDGETS = (("MCP tools/call", 1.0, "POST /v1/runs"), ("E2B create", 15.0, None), ("E2B first runCode", 10.0, None),
           ("E2B SDK create", 15.0, None), ("E2B SDK first runCode", 10.0, None),
           ("Python SDK health", 0.3, "curl health"), ("TypeScript SDK health", 0.3, "curl health"))
PARTS = ("client", "keeper", "warden")
TYPESCRIPT = """
import { Belljar } from "%s/sdk/typescript/dist/node.js";
const jar = new Belljar({ url: process.argv[1] }), took = [];
for (let i = 0; i < +process.argv[2]; i++) {
  const began = performance.now();
  await jar.health();
  took.push(performance.now() - began);
}
console.log(JSON.stringify({ "TypeScript SDK health": took }));
jar.close();
""" % ROOT
E2B = """
import { readdirSync, readFileSync } from "node:fs";
import { Sandbox } from "@e2b/code-interpreter";
const took = { "E2B SDK create": [], "E2B SDK first runCode": [], "E2B SDK next runCode": [] };
const cpu = Object.fromEntries(Object.keys(took).map((name) => [name, []]));
const cpuMs = () => [process.pid, ...process.argv.slice(2)].map((pid) =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, task) =>
    sum + readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0] / 1e6, 0));
const timed = async (name, call) => {
  const before = cpuMs(), began = performance.now(), value = await call();
  took[name].push(performance.now() - began);
  cpu[name].push(cpuMs().map((ms, i) => ms - before[i]));
  return value;
};
for (let i = 0; i < +process.argv[1]; i++) {
  const sandbox = await timed("E2B SDK create", () => Sandbox.create());
  for (const name of ["E2B SDK first runCode", "E2B SDK next runCode"]) {
    const run = await timed(name, () => sandbox.runCode("print(1)"));
    if (run.logs.stdout.join("") !== "1\\n") throw new Error(JSON.stringify(run));
  }
  await sandbox.kill();
}
console.log(JSON.stringify({ took, cpu }));
process.exit(0);
"""


class Caller:
    def __init__(self, port, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Content-Type": "application/json", **(headers or {})}

    def __call__(self, method, path, body=None, **headers):
        self.connection.request(method, path, None if body is None else json.dumps(body), {**self.headers, **headers})
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status >= 400:
            raise SystemExit(f"doors: {method} {path}: {answer.status} {data[:300]!r}")
        return answer, data


def begin_mcp(port):
    call = Caller(port, {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"})
    answer, _ = call("POST", "/mcp", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}})
    call.headers["Mcp-Session-Id"] = answer.getheader("Mcp-Session-Id")
    return call


class Calls:
    """Each method makes one call, and checks its answer."""

    def __init__(self, port):
        self.v1, self.mcp, self.e2b = Caller(port), begin_mcp(port), Caller(port)

    def run(self):
        _, data = self.v1("POST", "/v1/runs", {"code": CODE, "language": "python"})
        assert json.loads(data)["stdout"] == "1\n", data

    def tool(self):
        _, data = self.mcp("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "run_code", "arguments": {"code": CODE, "language": "python"}}})
        assert b'"stdout":"1\\n"' in data, data

    def execute(self, sandbox):
        _, data = self.e2b("POST", "/execute", {"code": CODE}, **{"E2b-Sandbox-Id": sandbox})
        assert b'"text":"1' in data and b"end_of_execution" in data, data

    def sandbox(self, samples):
        timed(samples["E2B create"], self.create)
        timed(samples["E2B first runCode"], self.execute, self.last)
        timed(samples["E2B next runCode"], self.execute, self.last)
        self.e2b("DELETE", f"/sandboxes/{self.last}")

    def create(self):
        self.last = json.loads(self.e2b("POST", "/v2/sandboxes", {"templateID": "base"})[1])["sandboxID"]


def timed(list_of, function, *arguments):
    began = time.perf_counter()
    function(*arguments)
    list_of.append(1000 * (time.perf_counter() - began))


def measure(port, rounds):
    calls = Calls(port)
    samples = {name: [] for name in ("POST /v1/runs", "MCP tools/call", "E2B create", "E2B first runCode",
                                     "E2B next runCode")}
    for i in range(rounds + 5):
        if i == 5:  # the pools are full
            for one in samples.values():
                one.clear()
        turns = [lambda: timed(samples["POST /v1/runs"], calls.run),
                 lambda: timed(samples["MCP tools/call"], calls.tool), lambda: calls.sandbox(samples)]
        random.shuffle(turns)
        for turn in turns:
            turn()
    return samples


def node(code, *words, **environ):
    done = subprocess.run(["node", "--input-type=module", "-e", code, *map(str, words)], cwd=ROOT / "tests/clients",
                          env={**os.environ, **environ}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def measure_clients(port, halves, rounds):
    """The first calls make connections, and do not count. Returns the samples, and those of CPU time."""
    url, n, cpu = f"http://127.0.0.1:{port}", 5 * rounds, {}
    done = subprocess.run(["curl", "-s", *["-o", os.devnull] * n, "-w", "%{time_total}\n", *[f"{url}/v1/health"] * n],
                          stdout=subprocess.PIPE, check=True)
    samples = {"curl health": [1000 * float(line) for line in done.stdout.split()], "Python SDK health": []}
    with Belljar(url) as jar:
        for _ in range(n):
            timed(samples["Python SDK health"], jar.health)
    if shutil.which("node"):
        samples.update(node(TYPESCRIPT, url, n))
    if shutil.which("node") and (ROOT / "tests/clients/node_modules/@e2b/code-interpreter").is_dir():
        found = node(E2B, rounds + 5, *halves, E2B_API_URL=url, E2B_SANDBOX_URL=url, E2B_API_KEY="e2b_" + "0" * 40)
        samples.update(found["took"])
        cpu = found["cpu"]
    return {name: one[5:] for name, one in samples.items()}, {name: one[5:] for name, one in cpu.items()}


def show_cpu(cpu):
    """A table of medians: the CPU time of each part."""
    found = {name: dict(zip(PARTS, map(statistics.median, zip(*one)))) for name, one in cpu.items()}
    if found:
        print(f"{'CPU time, p50 ms':22} " + " ".join(f"{part:>8}" for part in PARTS))
    for name, row in found.items():
        print(f"{name:22} " + " ".join(f"{row[part]:8.2f}" for part in PARTS))
    return found


def main():
    rounds = 40 if "--quick" in sys.argv[1:] else 300
    with Service("--set", "doors.mcp=on", "--set", "doors.e2b=on") as s:
        samples = measure(s.port, rounds)
        of_clients, cpu = measure_clients(s.port, [s.half(name).pid for name in PARTS[1:]], rounds)
        samples.update(of_clients)
    rows = {name: {"p50_ms": statistics.median(x), "p90_ms": statistics.quantiles(x, n=10)[8], "n": len(x)}
            for name, x in samples.items()}
    print(f"{'call':22} {'p50 ms':>8} {'p90 ms':>8}")
    for name, row in rows.items():
        print(f"{name:22} {row['p50_ms']:8.2f} {row['p90_ms']:8.2f}")
    for name, parts in show_cpu(cpu).items():
        rows[name]["cpu_p50_ms"] = parts
    missed = 0
    for name, most, base in BUDGETS:
        if name not in rows:
            print(f"not measured: {name}, because node or its package is missing")
            continue
        value = rows[name]["p50_ms"] - (rows[base]["p50_ms"] if base else 0)
        missed += value > most
        above = f" over {base}" if base else ""
        print(f"{'ok' if value <= most else 'MISSED':6} {name}{above}: {value:.2f} ms (budget {most:g} ms)")
    place = ROOT / "build/bench"
    place.mkdir(parents=True, exist_ok=True)
    (place / "doors.json").write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
