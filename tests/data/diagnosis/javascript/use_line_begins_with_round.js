const start = Date.now
const limit = start
(function () {
  console.log(limit)
})()
