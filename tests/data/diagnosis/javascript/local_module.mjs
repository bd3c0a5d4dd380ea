import { shout } from './util.mjs';

for (const word of ['a', 'b']) {
  console.log(shout(word));
}
