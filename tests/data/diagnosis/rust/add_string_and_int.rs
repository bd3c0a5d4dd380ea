fn main() {
    let n: i32 = 3;
    println!("{}", n + 1.5);
}
