console.log([RegExp.$1, RegExp.input, RegExp.lastMatch, RegExp.leftContext, RegExp['$&']]);
/(b)(c)/.exec('abcd');
console.log([RegExp.$1, RegExp.$2, RegExp.lastMatch, RegExp.rightContext]);
