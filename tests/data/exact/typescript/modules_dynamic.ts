const { inc } = await import('./lib');
console.log(inc(3));
import('./nothing').catch((e: NodeJS.ErrnoException) => console.log(e.code));
