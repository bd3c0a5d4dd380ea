mod helper;

fn main() {
    println!("{}", helper::double(2));
}
