console.log(process.version, process.versions, process.arch, process.platform, process.release, process.features, process.config);
