fn shout(text: String) -> String {
    text.to_uppercase()
}

fn main() {
    let word = String::from("hello");
    let loud = shout(word);
    println!("{} {}", word, loud);
}
