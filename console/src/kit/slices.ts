// Long work in slices, so that the page can paint and take input.
export const SLICE_MS = 8;

/** Lets the page paint and take input between two slices of work. */
export const breathe = () =>
  new Promise<void>((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(0);
  });
