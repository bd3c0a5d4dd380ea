const s = 'unterminated
