fn main() {
    let n: i32 = "twelve".parse().unwrap();
    println!("{}", n);
}
