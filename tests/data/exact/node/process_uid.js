console.log(process.getuid() === process.geteuid(), process.getgid() === process.getegid(), process.getgroups().length, process.umask().toString(8));
