// The page: brings its lesson to life, and leads from page to page while Python goes on.

import { Lesson } from "./lesson.js";
import { able, client, readConfig } from "./python.js";
import { Travel } from "./travel.js";

/** None on the pages around the lessons. @type {Lesson | null} */
export let lesson = opened();

if (able && document.documentElement.dataset.view !== "embed") {
  new Travel({
    flush: () => lesson?.address.flush(),
    follow: () => lesson?.address.follow(),
    again: () => lesson?.address.again(),
    leave: () => lesson?.close(),
    enter: () => {
      window.normlab.scan();
      lesson = opened();
    },
  });
}
// The page may be put away and brought back (its worker sleeps with it); what must not be lost is the address.
addEventListener("pagehide", () => lesson?.address.flush());

function opened() {
  const config = readConfig();
  if (config === null) return null;
  const opened = new Lesson(config, client);
  opened.open(able);
  return opened;
}
