fn main() {
    let values = vec![1, 2, 3];
    let i: i32 = 1;
    println!("{}", values[i]);
}
