const t = require('trace_events');
const x = t.createTracing({ categories: ['node.perf'] });
console.log(x.enabled, t.getEnabledCategories());
