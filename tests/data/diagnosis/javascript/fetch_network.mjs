const r = await fetch("http://example.com/data.json");
console.log(await r.json());
