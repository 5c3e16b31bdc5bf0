// The script of all pages. Pages work without it: it only saves reloads.
"use strict";

// A page with data-stream keeps an event stream open while it is visible: browsers allow
// six connections per server, and a user may open fifty pages.
const source = { stream: null };

function openStream() {
  const path = document.body.dataset.stream;
  if (!path || document.hidden || source.stream) return;
  source.stream = new EventSource(path);
  for (const element of document.querySelectorAll("[data-live]")) {
    source.stream.addEventListener(element.id, (event) => replace(element.id, event.data));
  }
}

function closeStream() {
  if (source.stream) source.stream.close();
  source.stream = null;
}

// replace puts HTML from the server into an element. The focus stays where it was.
function replace(id, html) {
  const element = document.getElementById(id);
  if (!element) return;
  const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
  element.innerHTML = html;
  if (focused) document.getElementById(focused)?.focus();
}

document.addEventListener("visibilitychange", () => (document.hidden ? closeStream() : openStream()));
addEventListener("pagehide", closeStream);
addEventListener("pageshow", openStream);
