#[derive(Debug)]
struct Message {
    to: String,
    body: String,
}

fn send(m: Message) {
    println!("to {}: {}", m.to, m.body);
}

fn main() {
    let m = Message { to: "ann".to_string(), body: "hi".to_string() };
    for attempt in 0..3 {
        println!("attempt {attempt}");
        send(m);
    }
}
