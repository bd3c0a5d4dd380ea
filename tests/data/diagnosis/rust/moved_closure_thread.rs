use std::thread;

fn main() {
    let names = vec![String::from("ann"), String::from("bob")];
    let handle = thread::spawn(move || {
        for n in &names {
            println!("hello {n}");
        }
    });
    handle.join().unwrap();
    println!("{} names", names.len());
}
