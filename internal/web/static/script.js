// The script of all pages. Pages work without it: it only saves reloads.
"use strict";

// base precedes the paths of the server.
const base = document.body.dataset.base;

// follow updates the parts of the page with data-live while it shows a running job.
async function follow() {
  while (document.querySelector("[data-running]")) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    if (document.hidden) continue;
    const response = await fetch(location.href).catch(() => null);
    if (!response?.ok) return; // the server has stopped, or the database is gone
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const element of document.querySelectorAll("[data-live]")) {
      replace(element.id, page.getElementById(element.id)?.innerHTML ?? "");
    }
  }
}

// replace puts HTML from the server into an element. The focus stays where it was, and
// open details with an ID stay open.
function replace(id, html) {
  const element = document.getElementById(id);
  if (!element) return;
  const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...element.querySelectorAll("details[open][id]")].map((details) => details.id);
  element.innerHTML = html;
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
}

follow();

// Search as you type. The address always is that of the results, so that a reload, the
// history and a shared link lead to them.
const form = document.getElementById("search");
const query = document.getElementById("query");

const search = {
  shown: form ? parameters() : "", // of the results on the page
  running: null, // AbortController of the request
};

// parameters returns the fields of the form, without the empty ones.
function parameters() {
  const data = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...data]) if (value.trim() === "") data.delete(name);
  return data.toString();
}

// run shows the results for the form. The request before is aborted, so that the newest
// results win. It returns whether the page shows the results of the form.
async function run() {
  const wanted = parameters();
  search.running?.abort();
  if (wanted === search.shown) return true;
  const controller = (search.running = new AbortController());
  try {
    const response = await fetch(`${base}/search?${wanted}`, { signal: controller.signal });
    if (response.status === 401) return location.reload();
    if (!response.ok) {
      status(`The search failed (${response.status}). Reload the page.`);
      return false;
    }
    const html = await response.text();
    if (controller.signal.aborted) return false;
    showResults(html);
    search.shown = wanted;
    history.replaceState(null, "", base + (wanted ? "/?" + wanted : "/"));
    return true;
  } catch (error) {
    if (error.name !== "AbortError") status("The server does not answer. To start it, run: docsearch web");
    return false;
  }
}

function showResults(html) {
  replace("results", html);
  const home = document.getElementById("home");
  if (home) home.hidden = query.value.trim() !== "";
  else if (query.value.trim() === "") location.href = base + "/";
  status(document.querySelector("#results [data-status]").dataset.status);
}

function status(text) {
  document.getElementById("status").textContent = text;
}

const hits = () => [...document.querySelectorAll(".hit-link")];

// move selects the result that is that many places after the selected one. The place
// before the first one is the search field.
function move(step) {
  const links = hits();
  const next = links.indexOf(document.activeElement) + step;
  if (next < 0) query.focus();
  else links[Math.min(next, links.length - 1)]?.focus();
}

if (form) {
  form.addEventListener("input", (event) => {
    if (event.target === query) run();
  });
  form.addEventListener("change", (event) => {
    // Another database has other versions, which only a new page shows.
    if (event.target.id === "database") form.requestSubmit();
    else if (event.target !== query) run();
  });
  form.addEventListener("submit", async (event) => {
    if (event.submitter?.id !== "submit" && event.submitter) return;
    if (document.activeElement?.id === "database") return;
    event.preventDefault();
    if ((await run()) && document.activeElement === query) hits()[0]?.click();
  });
  // The history keeps the selected result, for the way back from a document.
  addEventListener("click", (event) => {
    const link = event.target.closest?.(".hit-link");
    if (link) history.replaceState({ hit: link.id }, "");
  });
  addEventListener("pageshow", () => {
    const hit = document.getElementById(history.state?.hit);
    if (hit) hit.focus();
    else if (document.activeElement === document.body) query.focus();
  });
}

addEventListener("keydown", (event) => {
  const field = event.target.closest?.("input, select, textarea");
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey || event.isComposing || (control && event.key.toLowerCase() !== "k")) return;
  if (control || (event.key === "/" && !field)) {
    event.preventDefault();
    if (query) query.select();
    else location.href = base + "/"; // which has the focus on the search
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && form && (!field || field === query) && hits().length > 0) {
    if (event.target !== query && !event.target.classList?.contains("hit-link")) return;
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape" && form && !field) {
    query.select();
  }
});

// The passage in the address receives the focus, so that reading continues there.
if (location.hash === "#passage") document.getElementById("passage")?.focus();
