function initials(people) {
  return people.map((p) => p.code.toUpperCase().slice(0, 2));
}

console.log(initials([{ code: 'ab12' }, { code: 42 }]));
