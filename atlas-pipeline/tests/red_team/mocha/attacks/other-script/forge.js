process.kill(process.ppid);
