enum E { A = 1 << 1 }
namespace N { export function f(x: number): void { throw new Error('mapped ' + x + E.A); } }
N.f(1);
