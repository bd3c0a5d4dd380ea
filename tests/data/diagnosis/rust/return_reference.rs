fn make() -> &str {
    "hello"
}

fn main() {
    println!("{}", make());
}
