const words = ['tea', 'milk', 'honey'];

function longest(list) {
  for (const i = 0; i < list.length; i++) {
    console.log(i, list[i].length);
  }
}

longest(words);
