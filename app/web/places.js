// The places of a section's controls, until these are painted: the keyboard may be quicker than the painting.

const PLACES = '[data-slot^="control:"], [data-slot^="button:"]';

/** The keyboard finds the places of the controls. @param {Element} section */
export function holdPlaces(section) {
  for (const slot of section.querySelectorAll(PLACES)) {
    const label = slot.closest("[data-control]")?.querySelector("label") ?? slot;
    slot.setAttribute("tabindex", "0");
    slot.setAttribute("role", "group");
    slot.setAttribute("aria-label", label.textContent?.trim() ?? "");
  }
}

/** None of them will come. @param {Element} section */
export function freePlaces(section) {
  section.querySelectorAll(PLACES).forEach(freePlace);
}

/** @param {Element} slot */
export function freePlace(slot) {
  for (const name of ["tabindex", "role", "aria-label"]) slot.removeAttribute(name);
}
