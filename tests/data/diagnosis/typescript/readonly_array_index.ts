const xs: ReadonlyArray<number> = [1];
xs[0] = 2;
