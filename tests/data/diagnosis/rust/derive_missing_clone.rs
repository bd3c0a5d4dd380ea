struct Config {
    name: String,
    retries: u32,
}

fn run(c: Config) {
    println!("{} {}", c.name, c.retries);
}

fn main() {
    let c = Config { name: "a".into(), retries: 3 };
    run(c.clone());
    run(c);
}
