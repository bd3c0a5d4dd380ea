throw new AggregateError([new Error('a'), new TypeError('b')], 'agg');
