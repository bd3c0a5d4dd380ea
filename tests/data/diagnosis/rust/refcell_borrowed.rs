use std::cell::RefCell;

fn main() {
    let cell = RefCell::new(1);
    let view = cell.borrow();
    *cell.borrow_mut() = 2;
    println!("{}", view);
}
