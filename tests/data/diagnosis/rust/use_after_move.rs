fn main() {
    let names = vec![String::from("ann"), String::from("bob")];
    let other = names;
    println!("{} {}", names.len(), other.len());
}
