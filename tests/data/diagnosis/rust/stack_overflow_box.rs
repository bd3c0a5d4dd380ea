#[derive(Debug)]
enum List {
    Cons(u64, Box<List>),
    Nil,
}

fn build(n: u64) -> List {
    if n == u64::MAX {
        return List::Nil;
    }
    List::Cons(n, Box::new(build(n + 1)))
}

fn main() {
    let l = build(0);
    println!("{:?}", l);
}
