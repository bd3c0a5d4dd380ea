fn main() {
    let values: Vec<i32> = Vec::new();
    let first = values.first();
    println!("{}", first.unwrap());
}
