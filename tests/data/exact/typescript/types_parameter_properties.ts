class P { constructor(private readonly a: string, public b = 2, protected c?: number) { console.log(a); } show() { return [this.a, this.b, this.c]; } }
class Q extends P {
  constructor(public d: number, a: string) {
    super(a);
    console.log(this.d);
  }
}
console.log(new P('x').show(), new Q(1, 'y'));
