fn main() {
    let text = String::from("hello");
    let view = &text;
    drop(text);
    println!("{}", view);
}
