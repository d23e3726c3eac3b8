"""Style of the controls inside their shadow roots, in the page's own custom properties.

Bokeh's own sheets come first and ours after, so equal selectors win. A pointer target is at
least 24 px each way (WCAG 2.2, 2.5.8), a slider's handle can be caught within 44 px. The focus
ring is drawn here because a page's sheet does not reach into a shadow root.
"""

COMMON = """
:host {
  --font-size: 1rem;
  --base-font: inherit;
  --color: var(--nl-ink, #1c1f24);
  --background-color: var(--nl-paper, #fdfcfa);
  --border-color: var(--nl-edge, #858a93);
  --surface-background-color: var(--nl-raised, #f1efea);
  --disabled-background-color: var(--nl-raised, #f1efea);
  --disabled-color: var(--nl-muted, #5a606a);
  --inactive-bg: var(--nl-raised, #f1efea);
  font-family: inherit;
  color: var(--color);
}
:focus { outline: none; }
:focus-visible {
  outline: 3px solid var(--nl-focus, #7a3ff2) !important;
  outline-offset: 2px !important;
}
@media (forced-colors: active) {
  :focus-visible { outline-color: Highlight !important; }
}
"""

SLIDER = """
:host { --slider-size: 8px; --handle-width: 24px; --handle-height: 24px; }
.bk-slider-title { display: none; }
.bk-input-group { padding: 9px 14px; min-height: 44px; justify-content: center; }
.noUi-target {
  background: var(--nl-raised, #f1efea);
  border: 1px solid var(--nl-edge, #858a93);
  border-radius: 999px;
  box-shadow: none;
  cursor: pointer;
}
.noUi-connect { background: var(--nl-accent, #1d5f9e) !important; }  /* Bokeh writes it inline */
.noUi-handle {
  background: var(--nl-accent, #1d5f9e);
  border: 3px solid var(--nl-paper, #fdfcfa);
  border-radius: 50%;
  box-shadow: 0 0 0 1px var(--nl-edge, #858a93);
}
.noUi-target, .noUi-target * { touch-action: pan-y; }  /* the page scrolls from the track */
.noUi-target .noUi-handle, .noUi-target .noUi-handle * { touch-action: none; }
.noUi-touch-area {
  position: absolute; width: 44px; height: 44px; left: 50%; top: 50%;
  transform: translate(-50%, -50%);
}
.noUi-target[disabled] .noUi-handle { background: var(--nl-muted, #5a606a); }
@media (prefers-reduced-motion: reduce) {
  .noUi-state-tap .noUi-connect, .noUi-state-tap .noUi-origin { transition: none !important; }
}
@media (forced-colors: active) {
  .noUi-handle { background: Highlight; forced-color-adjust: none; }
}
"""

FIELD = """
label { display: none; }
.bk-input {
  font: inherit;
  min-height: 40px;
  padding: 4px 10px;
  color: var(--nl-ink, #1c1f24);
  background-color: var(--nl-paper, #fdfcfa);
  border: 1px solid var(--nl-edge, #858a93);
  border-radius: 6px;
}
select.bk-input:not([multiple]) { background-image: none; appearance: auto; }
.bk-input:focus { border-color: var(--nl-edge, #858a93); box-shadow: none; }
.bk-input[disabled] { color: var(--nl-muted, #5a606a); }
.bk-spin-wrapper .bk-spin-btn { width: 28px; }
"""

SWITCH = """
.bk-input-group { display: flex; flex-wrap: wrap; gap: 4px 16px; }
label { display: inline-flex; align-items: center; min-height: 40px; gap: 8px; cursor: pointer; }
.bk-input-group.bk-inline > label:not(:first-child) { margin: 0; }
input[type="radio"] + span { top: 0; margin: 0; }
label:has(input:disabled) { cursor: not-allowed; color: var(--nl-muted, #5a606a); }
input[type="radio"] {
  width: 24px; height: 24px; margin: 0; accent-color: var(--nl-accent, #1d5f9e);
}
label:has(:focus-visible) { border-radius: 6px; }
"""

BUTTON = """
.bk-btn {
  min-height: 40px;
  padding: 6px 16px;
  border: 1px solid var(--nl-edge, #858a93);
  border-radius: 6px;
  font-weight: 600;
  white-space: normal;
}
.bk-btn-default, .bk-btn-default:hover, .bk-btn-default:focus, .bk-btn-default:active {
  color: var(--nl-ink, #1c1f24);
  background-color: var(--nl-raised, #f1efea);
  border-color: var(--nl-edge, #858a93);
}
.bk-btn-primary, .bk-btn-primary:hover, .bk-btn-primary:focus, .bk-btn-primary:active {
  color: var(--nl-on-accent, #ffffff);
  background-color: var(--nl-accent, #1d5f9e);
  border-color: var(--nl-accent, #1d5f9e);
}
.bk-btn:hover { filter: brightness(0.95); }
.bk-btn:focus, .bk-btn:active { outline: none; }  /* Bokeh's own ring, also after a click */
.bk-btn[disabled], .bk-btn[disabled]:hover {
  opacity: 1;
  color: var(--nl-muted, #5a606a);
  background-color: var(--nl-raised, #f1efea);
  border: 1px dashed var(--nl-edge, #858a93);
  filter: none;
}
"""
