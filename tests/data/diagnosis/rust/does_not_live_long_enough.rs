fn main() {
    let view;
    {
        let text = String::from("hello");
        view = &text;
    }
    println!("{}", view);
}
