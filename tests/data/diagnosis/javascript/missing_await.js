async function fetchUser(id) {
  return { id, profile: { email: `user${id}@example.org` } };
}

async function emails(ids) {
  const out = [];
  for (const id of ids) {
    const user = fetchUser(id);
    out.push(user.profile.email);
  }
  return out;
}

emails([1, 2]).then(console.log);
