const user = {
  first: "Ada",
  last: "L",
  get full() {
    return this.first + " " + this.last;
  },
};
console.log(user.full());
