struct Stack<T> {
    items: Vec<T>,
}

impl<T> Stack<T> {
    fn new() -> Self { Stack { items: Vec::new() } }
    fn push(&mut self, t: T) { self.items.push(t); }
    fn pop(&mut self) -> T {
        self.items.pop().expect("stack is empty")
    }
}

fn rpn(expr: &str) -> i64 {
    let mut s = Stack::new();
    for tok in expr.split_whitespace() {
        match tok.parse::<i64>() {
            Ok(n) => s.push(n),
            Err(_) => {
                let (b, a) = (s.pop(), s.pop());
                s.push(if tok == "+" { a + b } else { a * b });
            }
        }
    }
    s.pop()
}

fn main() {
    println!("{}", rpn("1 2 + 4 *"));
    println!("{}", rpn("1 +"));
}
