type Method = "GET" | "POST";
function call(m: Method, url: string) { return m + url; }
const req = { method: "GET", url: "/a" };
console.log(call(req.method, req.url));
