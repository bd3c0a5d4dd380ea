struct Shape {
    width: i32,
}

fn main() {
    let s = Shape { width: 2 };
    println!("{}", s.widht);
}
