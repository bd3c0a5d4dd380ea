fn main() {
    let name: String = "ann";
    println!("{}", name);
}
