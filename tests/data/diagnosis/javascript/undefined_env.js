const path = process.env.DATA_PATH.split(":");
console.log(path);
