fn main() {
    let items: Vec<i32> = Vec::new();
    items.push(1);
    println!("{:?}", items);
}
