// What the classic scripts paint.js and begin.js publish, for the type checker.
// What app/site/offline.py writes before the service worker.
declare const SITE: {
  version: string; // of this build
  assets: string; // the folder of what every page needs
  runtime: string; // the folder of Python's files
  offline: Record<string, string>; // language → the page that stands in for those that are not kept
  contents: Record<string, string>; // path → SHA-256 of what is in a packed file
  files: Record<string, string>; // path → SHA-256, of everything in these folders and of what figures are painted from
};

interface Window {
  Bokeh?: object;
  normlabBegun?: { worker: Worker; fault: ErrorEvent | null };
  normlab: {
    paint(name: string): Promise<import("./experiment.js").Painted>;
    scan(): void;
    ahead(addresses: string[]): void;
    stock(): Promise<void>;
    drawn: Promise<void>;
    first: Promise<void>;
  };
}
