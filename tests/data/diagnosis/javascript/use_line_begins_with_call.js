let count = 3
(() => {
  count += 1
})()
console.log(count)
