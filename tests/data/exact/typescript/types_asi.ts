type A = string
const x = 1
interface B { a: A }
(function () { console.log('called', x) })()
let y: number
[1, 2].forEach((v) => { y = v })
class K { a: number
  ['b'] = 2
  private c
  static d: string }
console.log(y!, new K())
