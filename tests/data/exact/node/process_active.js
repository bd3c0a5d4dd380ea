console.log(process._getActiveHandles().length, process._getActiveRequests().length, process.getActiveResourcesInfo());
