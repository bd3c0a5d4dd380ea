const orders = [
  { id: 1, customer: { name: 'Ada', address: { city: 'London' } } },
  { id: 2, customer: { name: 'Bob' } },
];

function cities(list) {
  return list.map((order) => order.customer.address.city);
}

function main() {
  console.log(cities(orders).join(', '));
}

main();
