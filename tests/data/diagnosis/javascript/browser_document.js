function show(text) {
  // Only a page has this.
  const box =
    document.getElementById("box");
  box.textContent = text;
}

show("hi");
