fn main() {
    let mut counts = HashMap::new();
    counts.insert("a", 1);
    println!("{:?}", counts);
}
