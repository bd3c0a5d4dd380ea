fn main() {
    let values: Vec<u32> = Vec::new();
    let n = values.len();
    println!("{}", n - 1);
}
