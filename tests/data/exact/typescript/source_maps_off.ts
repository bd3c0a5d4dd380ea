console.log((process as any).sourceMapsEnabled, typeof process.setSourceMapsEnabled);
