"use strict";
// What pages gain by a script; every one of them works without it.

// The server writes moments in the words of the reader's own clock.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.includes("smartbrain_zone=" + zone)) {
  document.cookie = "smartbrain_zone=" + zone + "; path=/; max-age=31536000; samesite=strict";
}

// "/" goes to the search, as in many places; never while somebody is writing.
document.addEventListener("keydown", (event) => {
  const writing = event.target.closest("input, textarea, select, [contenteditable]");
  const search = document.querySelector("input[type=search]");
  if (event.key === "/" && !writing && search && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  }
  if (event.key === "Escape") {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
});

// One box chooses all of a list.
document.addEventListener("change", (event) => {
  const all = event.target.closest("input[data-chooses]");
  if (all) {
    for (const box of document.querySelectorAll(`input[name="${all.dataset.chooses}"]`)) {
      box.checked = all.checked;
    }
  }
});

// A refusal of a part of a page is shown where the part would have been.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status >= 400 && event.detail.xhr.getResponseHeader("content-type")?.startsWith("text/html")) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
});
