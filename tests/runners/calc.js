exports.first = (list) => list[0].name;
