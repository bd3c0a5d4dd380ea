const handlers = new Map();
handlers.set("start", () => console.log("go"));
const action = "start";
handlers[action]();
