const greeting = 'What's up?';
console.log(greeting);
