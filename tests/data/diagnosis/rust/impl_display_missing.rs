#[derive(Clone, Copy, PartialEq)]
enum Cell { Empty, X, O }

struct Board { cells: [Cell; 9] }

fn main() {
    let b = Board { cells: [Cell::Empty; 9] };
    for c in b.cells.iter() {
        print!("{} ", c);
    }
    println!();
}
