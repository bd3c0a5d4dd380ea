use std::thread;

fn main() {
    let word = String::from("hello");
    let handle = thread::spawn(|| println!("{}", word));
    handle.join().unwrap();
}
