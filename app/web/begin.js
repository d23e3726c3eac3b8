// Makes Python's worker before anything else of the page is at work: once figures are being painted, a worker
// waits long for the page's thread, to be loaded and for every message until its script has run. So what it is
// to start is its name. A plain script, early in the page; python.js takes the worker over. In old syntax, as shell.js is.

(function () {
  var config = document.getElementById("normlab-page"); // none on the pages around the lessons
  if (!config || document.documentElement.dataset.tooOld !== undefined || location.protocol === "file:") return;
  var page = JSON.parse(config.textContent || "");
  var boot = { type: "boot", runtime: new URL(page.runtime, document.baseURI).href, files: page.files, fresh: false };
  try {
    var worker = new Worker(new URL(page.worker, document.baseURI), { type: "module", name: JSON.stringify(boot) });
  } catch (error) {
    return; // a frame in a sandbox may make none; its text and figures shall be there all the same
  }
  /** @type {NonNullable<Window["normlabBegun"]>} */
  var begun = (window.normlabBegun = { worker: worker, fault: null });
  worker.onerror = function (event) { begun.fault = event; }; // python.js is told, if it is not there yet
})();
