[1, 2, 3].some(function (n) {
  if (n === 2) break;
  return false;
});
