class Lexer:
    def __init__(self, text):
        self.text = text
        self.pos = 0

    def peek(self):
        return self.text[self.pos]

    def number(self):
        start = self.pos
        while self.peek().isdigit():
            self.pos += 1
        return int(self.text[start:self.pos])


def parse_sum(text):
    lexer = Lexer(text)
    total = lexer.number()
    while lexer.peek() == "+":
        lexer.pos += 1
        total += lexer.number()
    return total


print(parse_sum("12+30"))
