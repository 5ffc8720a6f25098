"use strict";
// Keyboard replay, prompts on demand, sorting and filtering of tables, following what is under way.

function replay(box) {
  const steps = Number(box.dataset.steps);
  let now = Number(new URL(location.href).searchParams.get("step")) || 0;
  let timer = null;
  function show(place, jump) {
    now = Math.max(0, Math.min(steps, place));
    document.querySelectorAll(".step.now, a.now").forEach((e) => e.classList.remove("now"));
    const section = document.getElementById("step-" + now);
    section.classList.add("now");
    const mark = document.querySelector('[data-goto="' + now + '"]');
    if (mark) mark.classList.add("now");
    if (jump) {
      section.scrollIntoView({ block: "start" });
      // Sections on the way get their true height only now.
      requestAnimationFrame(() => section.scrollIntoView({ block: "start" }));
      const address = new URL(location.href);
      address.searchParams.set("step", String(now));
      address.hash = "";
      history.replaceState(null, "", address);
    }
  }
  function stop() { clearInterval(timer); timer = null; told(); }
  function play() {
    if (timer) { stop(); return; }
    timer = setInterval(() => { if (now >= steps) stop(); else show(now + 1, true); }, 900);
    told();
  }
  function told() {
    document.querySelectorAll("[data-move=play]").forEach((button) => { button.textContent = timer ? "Pause" : "Play"; });
  }
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea") || (event.key === " " && event.target.closest("button, summary"));
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowRight: now + 1, j: now + 1, ArrowLeft: now - 1, k: now - 1, Home: 0, End: steps };
    if (event.key in moves) { event.preventDefault(); show(moves[event.key], true); }
    else if (event.key === " ") { event.preventDefault(); play(); }
  });
  document.querySelectorAll("[data-goto]").forEach((mark) => mark.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(Number(mark.dataset.goto), true);
  }));
  document.querySelectorAll(".moves").forEach((row) => { row.hidden = false; });
  document.querySelectorAll("[data-move]").forEach((button) => button.addEventListener("click", () => {
    if (button.dataset.move === "play") play(); else show(now + Number(button.dataset.move), true);
  }));
  show(now, now > 0);
}

function loadWhenOpened(part) {
  part.addEventListener("toggle", async () => {
    if (!part.open || part.dataset.loaded) return;
    part.dataset.loaded = "1";
    const answer = await fetch(part.dataset.load);
    // Written and escaped by our own server; the page's policy runs nothing that stands in it.
    const read = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.ok) part.append(...read.body.childNodes);
  });
}

function sortable(table) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  const value = (row, column) => row.cells[column].textContent.trim();
  function sort(column, down) {
    const rows = [...body.rows].sort((a, b) => {
      const x = value(a, column), y = value(b, column);
      const n = parseFloat(x.replace(/,/g, "")), m = parseFloat(y.replace(/,/g, ""));
      const order = isNaN(n) || isNaN(m) ? x.localeCompare(y) : n - m;
      return down ? -order : order;
    });
    body.append(...rows);
    headings.forEach((heading) => heading.removeAttribute("aria-sort"));
    headings[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  }
  headings.forEach((heading, column) => {
    if (heading.textContent === "choose") return;
    heading.tabIndex = 0;
    heading.setAttribute("role", "columnheader");
    const again = () => {
      const down = heading.getAttribute("aria-sort") !== "descending";
      sort(column, down);
      const address = new URL(location.href);
      address.searchParams.set("by", (down ? "-" : "") + heading.textContent);
      history.replaceState(null, "", address);
    };
    heading.addEventListener("click", again);
    heading.addEventListener("keydown", (event) => { if (event.key === "Enter") again(); });
  });
  const asked = new URL(location.href).searchParams.get("by") || "";
  const wanted = headings.findIndex((heading) => heading.textContent === asked.replace(/^-/, ""));
  if (asked && wanted >= 0) sort(wanted, asked.startsWith("-"));
}

function chooseTwo(form) {
  const button = form.querySelector("button");
  const enough = () => { button.disabled = form.querySelectorAll("input:checked").length < 2; };
  form.addEventListener("change", enough);
  window.addEventListener("pageshow", enough);
  enough();
}

function filterHere(form) {
  const table = document.querySelector("table." + form.dataset.here);
  const note = document.getElementById("fitting");
  if (!table) { form.hidden = true; return; }
  const query = new URL(location.href).searchParams;
  [...form.elements].forEach((field) => { if (field.name && query.has(field.name)) field.value = query.get(field.name); });
  function apply() {
    const given = [...new FormData(form)].filter(([, value]) => value !== "");
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !given.every(([name, value]) => {
        if (name === "text") return row.textContent.toLowerCase().includes(value.toLowerCase());
        const field = form.elements[name];
        return field.type === "number" ? Number(row.dataset[name]) >= Number(value) : row.dataset[name] === value;
      });
      shown += row.hidden ? 0 : 1;
    }
    if (note && given.length) note.textContent = shown + " of the episodes listed here";
    return given;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const address = new URL(location.href);
    address.search = new URLSearchParams(apply());
    history.replaceState(null, "", address);
  });
  form.addEventListener("input", apply);
  apply();
}

function follow(address) {
  const list = document.querySelector("#live ol");
  const lines = new Map();
  let from = 0, state = null;
  function tell(event) {
    let line = lines.get(event.key);
    if (event.event === "end") { if (line) line.remove(); lines.delete(event.key); return; }
    if (!line) { line = document.createElement("li"); lines.set(event.key, line); list.append(line); }
    line.textContent = event.key + (event.step ? " · step " + event.step + ": " + (event.action || "no action") : " · started");
  }
  function chosen() { return document.querySelector("#compare input:checked, input:focus, select:focus"); }
  async function look() {
    try {
      const told = await (await fetch(address + (list ? "?from=" + from : ""))).json();
      const fresh = JSON.stringify(told.state);
      const changed = state !== null && fresh !== state;
      // Nobody's choice is lost: the page loads itself anew when nothing is being chosen.
      if (changed && !list && !chosen()) { location.reload(); return; }
      if (list) {
        from = told.from;
        told.events.forEach(tell);
        if (told.state && told.state[0] !== "running") { location.reload(); return; }
      }
      if (!changed || list) state = fresh;
    } catch (error) {
      // The server may have been stopped; look again later.
    }
    setTimeout(look, 2000);
  }
  look();
}

document.querySelectorAll(".replay").forEach(replay);
document.querySelectorAll("[data-load]").forEach(loadWhenOpened);
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("#compare").forEach(chooseTwo);
document.querySelectorAll("form[data-here]").forEach(filterHere);
if (document.body.dataset.follow) follow(document.body.dataset.follow);
