const title: string = "page";

function rename(): void {
  (window as any).title = title;
}

declare const window: unknown;
rename();
