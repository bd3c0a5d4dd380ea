const { execFileSync } = require('child_process');

function convert(input, output) {
  return execFileSync('ffmpeg', ['-i', input, output]);
}

convert('in.wav', 'out.mp3');
