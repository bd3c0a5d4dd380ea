fn main() {
    let word = String::from("hello");
    println!("{}", word[0]);
}
