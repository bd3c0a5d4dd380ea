fn command(input: String) -> u32 {
    match input {
        "start" => 1,
        "stop" => 2,
        _ => 0,
    }
}

fn main() {
    println!("{}", command(String::from("start")));
}
