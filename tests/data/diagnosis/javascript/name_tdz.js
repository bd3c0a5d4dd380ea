console.log(limit);

const limit = 10;
