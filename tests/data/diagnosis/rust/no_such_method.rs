fn main() {
    let values = vec![1, 2, 3];
    println!("{}", values.length());
}
