const EventEmitter = require("events");
class Logger {
  constructor() { this.lines = []; }
  write(line) { this.lines.push(line); }
}
const logger = new Logger();
const bus = new EventEmitter();
bus.on("msg", logger.write);
bus.emit("msg", "hello");
