// What a server sent in place of JSON.
const body = "<!DOCTYPE html><html></html>";

function parse(text) {
  return JSON.parse(text);
}

parse(body);
