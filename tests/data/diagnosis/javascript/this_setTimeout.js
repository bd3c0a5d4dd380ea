class Timer {
  constructor() {
    this.ticks = 0;
    this.log = [];
  }
  start() {
    setTimeout(function () {
      this.log.push("tick");
    }, 5);
  }
}
new Timer().start();
