const order: string[] = [];
setImmediate((): void => { order.push('immediate'); });
setTimeout((): void => { order.push('timeout'); console.log(order); }, 200);
process.nextTick((): void => { order.push('tick'); });
Promise.resolve().then((): void => { order.push('promise'); });
