// What the classic script paint.js publishes, for the type checker.
interface Window {
  normlab: { paint(name: string): Promise<import("./experiment.js").Painted>; scan(): void };
}
