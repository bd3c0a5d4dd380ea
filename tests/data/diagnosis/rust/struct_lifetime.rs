use std::collections::HashMap;

struct Parser {
    input: &str,
    counts: HashMap<String, usize>,
}

impl Parser {
    fn new(input: &str) -> Parser {
        Parser { input, counts: HashMap::new() }
    }

    fn run(&mut self) {
        for word in self.input.split_whitespace() {
            *self.counts.entry(word.to_string()).or_insert(0) += 1;
        }
    }
}

fn main() {
    let mut p = Parser::new("a b a");
    p.run();
    println!("{:?}", p.counts);
}
