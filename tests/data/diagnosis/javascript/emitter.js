const { EventEmitter } = require('events');

class Queue extends EventEmitter {
  push(job) {
    if (!job.id) {
      this.emit('error', new Error('job without id'));
      return;
    }
    this.emit('job', job);
  }
}

const q = new Queue();
q.on('job', (j) => console.log('job', j.id));
q.push({ id: 1 });
q.push({});
