function greeting(user) {
  return `Hello ${user.name}, you have ${user.unread} messages;
}

function main() {
  console.log(greeting({ name: 'Ada', unread: 3 }));
}

main();
