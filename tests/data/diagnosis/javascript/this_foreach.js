class Team {
  constructor(name) {
    this.name = name;
    this.members = [];
  }
  addAll(list) {
    list.forEach(function (m) {
      this.members.push(m);
    });
  }
}
new Team("x").addAll(["a"]);
