type Event1 = { type: "open"; path: string } | { type: "close" } | { type: "error"; message: string };
function assertNever(x: never): never {
  throw new Error("unexpected " + x);
}
function handle(e: Event1): string {
  switch (e.type) {
    case "open": return e.path;
    case "close": return "closed";
    default: return assertNever(e);
  }
}
console.log(handle({ type: "close" }));
