const rows = [["1", "x"], ["2", "y"]];
const list = rows.map(([id, label]) => {
  id: Number(id),
  label: label.toUpperCase(),
});
console.log(list);
