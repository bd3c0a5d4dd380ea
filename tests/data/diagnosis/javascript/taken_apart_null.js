const pair = null;
const [first, second] = pair;
