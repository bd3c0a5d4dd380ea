fn longest_word(text: String) -> &str {
    let mut best = "";
    for w in text.split(' ') {
        if w.len() > best.len() {
            best = w;
        }
    }
    best
}

fn main() {
    let t = String::from("the quick brown fox");
    println!("{}", longest_word(t));
}
