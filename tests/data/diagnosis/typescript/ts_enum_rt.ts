interface Handler {
  handle(event: string): void;
}

const handlers: Record<string, Handler> = {
  start: { handle: (e) => console.log('start', e) },
};

function dispatch(name: string, event: string): void {
  handlers[name].handle(event);
}

dispatch('start', 'x');
dispatch('stop', 'y');
