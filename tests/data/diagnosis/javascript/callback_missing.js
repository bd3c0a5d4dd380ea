function shout(words, f) {
  return words
    .slice()
    .map(f);
}
shout(["a"]);
