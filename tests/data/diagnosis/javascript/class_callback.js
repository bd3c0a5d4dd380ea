class Counter {
  constructor() {
    this.counts = {};
  }

  add(word) {
    this.counts[word] = (this.counts[word] ?? 0) + 1;
  }

  addAll(words) {
    words.forEach(this.add);
    return this.counts;
  }
}

console.log(new Counter().addAll(['a', 'b', 'a']));
