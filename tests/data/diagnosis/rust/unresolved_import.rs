use rand::Rng;

fn main() {
    let n: u8 = rand::thread_rng().gen();
    println!("{}", n);
}
