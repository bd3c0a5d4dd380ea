const carts = new Map();
carts.set("u1", { items: ["pen"] });
for (const id of ["u1"]) {
  console.log(carts[id].items.length);
}
