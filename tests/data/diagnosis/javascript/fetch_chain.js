async function getJson(url) {
  const res = await fetch(url);
  if (!res.ok) throw new Error(`HTTP ${res.status}`);
  return res.json();
}

async function main() {
  const user = await getJson('https://api.example.org/users/1');
  console.log(user.name);
}

main();
