// What app/site/offline.py writes before the service worker.
declare const SITE: {
  version: string; // of this build
  assets: string; // the folder of what every page needs
  runtime: string; // the folder of Python's files
  offline: Record<string, string>; // language → the page that stands in for those that are not kept
  contents: Record<string, string>; // path → SHA-256 of what is in a packed file
  files: Record<string, string>; // path → SHA-256, of everything in these folders and of what figures are painted from
};

// What classic scripts publish: BokehJS, and of ours paint.js, controls.js and begin.js.
interface Window {
  Bokeh: any; // undefined when it has not come
  normlabBegun?: { worker: Worker; fault: ErrorEvent | null };
  normlabControl: typeof import("./controls.js").controlOf;
  normlabSheets?: Record<string, string>; // name → style sheet, written after controls.js by app/site/documents.py
  normlab: {
    paint(name: string): Promise<import("./painted.js").PaintedSection>;
    scan(): void;
    ahead(addresses: string[]): void;
    stock(): Promise<void>;
    drawn: Promise<void>;
    first: Promise<void>;
  };
}
