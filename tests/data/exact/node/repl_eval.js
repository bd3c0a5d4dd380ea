console.log(eval('1+1'), (0, eval)('typeof module'), new Function('a', 'return a*2')(4), globalThis.eval === eval);
setTimeout('console.log(1)', 1);
