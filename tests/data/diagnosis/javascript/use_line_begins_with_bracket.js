const letters = ["a", "b"]
let low = letters[0]
let high = letters[1]
[low, high] = [high, low]
console.log(low, high)
