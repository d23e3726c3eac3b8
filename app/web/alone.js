// Whether the page is alone: no module will come, and so no Python. Of one that is missing shell.js has heard.

// A file gets no modules, ever: nothing that needs one is offered.
if (location.protocol === "file:") document.documentElement.dataset.alone = "";

export function isAlone() {
  return document.documentElement.dataset.alone !== undefined;
}
