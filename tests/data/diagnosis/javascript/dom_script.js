const state = { items: [] };

function render() {
  const list = document.getElementById('list');
  list.innerHTML = state.items.map((i) => `<li>${i}</li>`).join('');
}

function addItem(text) {
  state.items.push(text);
  render();
}

addItem('milk');
