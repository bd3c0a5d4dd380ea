const db = {
  async find(id) {
    return { rows: [{ id }] };
  },
};
async function main() {
  const { rows } = db.find(3);
  console.log(rows[0].id);
}
main();
