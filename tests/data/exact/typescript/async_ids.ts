import { executionAsyncId, AsyncResource } from 'async_hooks';
console.log(executionAsyncId(), new AsyncResource('x' as string).asyncId());
