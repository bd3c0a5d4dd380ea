// The request of a run as a program for other tools.
export const base = () => location.origin;

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export const curl = (body: unknown) =>
  `curl -s ${base()}/v1/runs -H 'Content-Type: application/json' \\\n     -d ${quote(JSON.stringify(body))}\n`;

export const python = (body: unknown) => `import json
import urllib.request

REQUEST = json.loads(${JSON.stringify(JSON.stringify(body))})

request = urllib.request.Request("${base()}/v1/runs", json.dumps(REQUEST).encode(),
                                 {"Content-Type": "application/json"})
with urllib.request.urlopen(request) as reply:
    result = json.load(reply)
print(result["verdict"])
print(result["stdout"], end="")
`;

export const typescript = (body: unknown) => `const request = ${JSON.stringify(body, null, 2)};

const reply = await fetch("${base()}/v1/runs", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(request),
});
const result = await reply.json();
console.log(result.verdict);
console.log(result.stdout);
`;
