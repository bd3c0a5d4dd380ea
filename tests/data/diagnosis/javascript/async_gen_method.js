class Feed {
  async *pages() {
    yield [1];
    yield [2];
  }
}
(async () => {
  const feed = new Feed();
  for (const page of feed.pages()) {
    console.log(page);
  }
})();
