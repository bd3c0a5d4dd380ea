enum Colour {
    Red,
    Green,
    Blue,
}

fn name(c: Colour) -> &'static str {
    match c {
        Colour::Red => "red",
        Colour::Green => "green",
    }
}

fn main() {
    println!("{}", name(Colour::Blue));
}
