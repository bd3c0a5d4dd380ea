function load() {
  try {
    JSON.parse("{");
  } catch (e) {
    throw new Error("bad settings", { cause: e });
  }
}

load();
