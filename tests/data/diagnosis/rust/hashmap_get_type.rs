use std::collections::HashMap;

fn price_of(prices: &HashMap<String, u32>, item: &str) -> u32 {
    prices.get(item)
}

fn main() {
    let mut prices = HashMap::new();
    prices.insert("tea".to_string(), 3);
    println!("{}", price_of(&prices, "tea"));
}
