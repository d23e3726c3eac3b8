// What the page around an embed asks for while its lesson is not open yet: embed.js, which imports this before all
// that waits, takes it then.

/** @type {MessageEvent[]} */
const heard = [];
const hear = (/** @type {MessageEvent} */ event) => void heard.push(event);
addEventListener("message", hear);

/** What has come so far; from now on whoever asks listens himself. @returns {MessageEvent[]} */
export function meanwhile() {
  removeEventListener("message", hear);
  return heard;
}
