class Mailer {
  send(subject?: string, to: string): string { return to; }
}
console.log(new Mailer().send("a", "b"));
