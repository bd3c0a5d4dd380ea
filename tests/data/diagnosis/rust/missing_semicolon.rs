fn main() {
    let n = 3
    println!("{}", n);
}
