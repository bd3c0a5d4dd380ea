interface Profile {
  name: string;
  contact?: { email: string };
}

function emails(profiles: Profile[]): string[] {
  return profiles.map((p) => p.contact.email);
}

console.log(emails([{ name: 'Ada', contact: { email: 'a@example.org' } }]));
