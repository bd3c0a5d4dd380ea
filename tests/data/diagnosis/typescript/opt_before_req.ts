function send(to: string, cc?: string, body: string) { return to + body; }
console.log(send("a", "b", "c"));
