// The time of the service. Its clock, or that of the browser, may be wrong; ages and deadlines must not be.
let skew = 0;

/** `date`: the header Date of an answer, in ms; NaN: it had none. */
export function setServerTime(date: number) {
  if (Number.isNaN(date)) return;
  const difference = date - Date.now();
  // The header has whole seconds, and an answer takes time: less than two seconds are no difference.
  skew = Math.abs(difference) < 2000 ? 0 : difference;
}

export const serverNow = () => Date.now() + skew;
