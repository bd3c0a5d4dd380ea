use std::fs;

fn main() {
    let text = fs::read_to_string("missing.txt").expect("cannot read");
    println!("{}", text);
}
