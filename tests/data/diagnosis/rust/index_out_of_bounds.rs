fn main() {
    let values = vec![1, 2, 3];
    let i = values.len();
    println!("{}", values[i]);
}
