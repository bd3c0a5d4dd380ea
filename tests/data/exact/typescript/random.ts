const a: number = Math.random(); console.log(a > 0 && a < 1, typeof crypto);
