interface Settings {
  theme: string;
}

function load(text: string): Settings {
  return JSON.parse(text) as Settings;
}

console.log(load('{"theme": "dark"}').theme);
console.log(load('').theme);
