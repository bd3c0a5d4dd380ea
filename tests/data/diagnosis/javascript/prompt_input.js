function ask(question) {
  const answer = prompt(question);
  return Number(answer);
}

const n = ask('How many? ');
for (let i = 0; i < n; i++) console.log(i);
