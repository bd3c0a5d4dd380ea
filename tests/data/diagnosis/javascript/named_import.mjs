import { fromatDate } from './dates.mjs';

const today = new Date(0);
console.log(fromatDate(today));
