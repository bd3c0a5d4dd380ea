enum Color { Red, Green = 5, Blue }
enum Word { Up = 'UP', Down = 'DOWN' }
const enum Inline { A = 1, B = -1 }
console.log(Color, Color.Blue, Color[5], Word.Up, Word, Inline.A, Inline.B);
