fn main() {
    let mut text = String::from("a");
    let a = &mut text;
    let b = &mut text;
    a.push('b');
    b.push('c');
}
