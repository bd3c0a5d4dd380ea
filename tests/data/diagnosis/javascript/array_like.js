const stock = { pens: 3, books: 0, cups: 7 };

function available(items) {
  return items.filter((n) => n > 0);
}

console.log(available(stock).length);
