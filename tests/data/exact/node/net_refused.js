require('net').connect(1, '127.0.0.1').on('error', (e) => console.log(e.code, e.syscall, e.address, e.port));
