const seen = new Map();
seen.push("a");
