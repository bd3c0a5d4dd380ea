#[derive(Debug)]
struct Inventory {
    items: Vec<u32>,
    total: u32,
}

impl Inventory {
    fn add_to_total(&mut self, n: u32) {
        self.total += n;
    }

    fn recount(&mut self) {
        for i in self.items.iter() {
            self.add_to_total(*i);
        }
    }
}

fn main() {
    let mut inv = Inventory { items: vec![1, 2, 3], total: 0 };
    inv.recount();
    println!("{:?}", inv);
}
