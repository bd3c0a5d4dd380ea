trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String;
}

struct Circle(f64);
struct Square(f64);

impl Shape for Circle {
    fn area(&self) -> f64 { std::f64::consts::PI * self.0 * self.0 }
    fn name(&self) -> String { "circle".into() }
}

fn describe<T: Shape>(s: &T) -> String {
    format!("{} {:.2}", s.name(), s.area())
}

fn main() {
    println!("{}", describe(&Circle(1.0)));
    println!("{}", describe(&Square(2.0)));
}
