const https = require('https');

function get(url, done) {
  https.get(url, (res) => {
    let body = '';
    res.on('data', (c) => (body += c));
    res.on('end', () => done(body));
  });
}

get('https://api.example.org/v1/items', (body) => console.log(body.length));
