fn main() {
    let n: i32 = "12".parse()?;
    println!("{}", n);
}
