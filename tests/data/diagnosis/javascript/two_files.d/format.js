function format(person) {
  return person.name + " of " + person.home.town;
}

module.exports = { format };
