fn main() {
    let longest: &String;
    {
        let a = String::from("hello");
        let b = String::from("hi");
        longest = if a.len() > b.len() { &a } else { &b };
    }
    println!("{longest}");
}
