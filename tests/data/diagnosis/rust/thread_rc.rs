use std::rc::Rc;
use std::thread;

fn main() {
    let data = Rc::new(vec![1, 2, 3]);
    let mut handles = Vec::new();
    for i in 0..3 {
        let data = Rc::clone(&data);
        handles.push(thread::spawn(move || {
            println!("{} {}", i, data[i]);
        }));
    }
    for h in handles {
        h.join().unwrap();
    }
}
