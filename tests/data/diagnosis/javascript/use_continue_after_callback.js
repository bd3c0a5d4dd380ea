const xs = [1];
if (xs.some((x) => x > 0)) {
  continue;
}
