setTimeout((): void => { (undefined as any).x; }, 1);
