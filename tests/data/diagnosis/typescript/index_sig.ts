const ages = { ana: 3, dan: 4 };
function get(n: string) { return ages[n]; }
console.log(get("ana"));
