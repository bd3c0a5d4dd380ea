fn main() {
    let count = 0;
    count = count + 1;
    println!("{}", count);
}
