struct Point {
    x: i32,
}

fn main() {
    println!("{:?}", Point { x: 1 });
}
