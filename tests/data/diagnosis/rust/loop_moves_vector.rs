fn main() {
    let names = vec![String::from("ann")];
    for name in names {
        println!("{}", name);
    }
    println!("{}", names.len());
}
