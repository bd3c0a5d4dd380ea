const replies = ['{"ok": true}', "{'ok': false}"];

function parseReply(text) {
  const body = JSON.parse(text);
  return body.ok;
}

for (const reply of replies) {
  console.log(parseReply(reply));
}
