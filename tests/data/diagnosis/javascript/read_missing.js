const fs = require('fs/promises');

async function loadTodos() {
  const text = await fs.readFile('todo.json', 'utf8');
  return JSON.parse(text);
}

async function main() {
  const todos = await loadTodos();
  console.log(todos.filter((t) => !t.done).length);
}

main();
