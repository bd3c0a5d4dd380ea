for (const k of ['argv', 'argv0', 'execArgv', 'execPath', 'pid', 'ppid', 'title', 'env', 'version', 'versions', 'arch', 'platform', 'release', 'features', 'config', 'exitCode', 'stdout', 'stdin', 'stderr', 'mainModule', 'debugPort', 'report', 'moduleLoadList', '_eval', '_preload_modules', 'noDeprecation']) {
  const d = Object.getOwnPropertyDescriptor(process, k);
  console.log(k, d && { ...d, value: typeof d.value, get: typeof d.get, set: typeof d.set });
}
