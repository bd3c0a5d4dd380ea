const config = { db: null };

for (const key of Object.keys(config.cache)) console.log(key);
