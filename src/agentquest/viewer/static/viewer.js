"use strict";
// Keyboard replay of an episode, sortable tables, and following a run that is under way.

function replay(box) {
  const steps = Number(box.dataset.steps);
  let now = Number(box.dataset.step);
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
      const address = new URL(location.href);
      address.searchParams.set("step", String(now));
      history.replaceState(null, "", address);
    }
  }
  function play() {
    if (timer) { clearInterval(timer); timer = null; return; }
    timer = setInterval(() => {
      if (now >= steps) { clearInterval(timer); timer = null; } else { show(now + 1, true); }
    }, 900);
  }
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowRight: now + 1, j: now + 1, ArrowLeft: now - 1, k: now - 1, Home: 0, End: steps };
    if (event.key in moves) { event.preventDefault(); show(moves[event.key], true); }
    else if (event.key === " ") { event.preventDefault(); play(); }
  });
  document.querySelectorAll("[data-goto]").forEach((mark) => mark.addEventListener("click", (event) => {
    event.preventDefault();
    show(Number(mark.dataset.goto), true);
  }));
  show(now, now > 0);
}

function sortable(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    if (!heading.textContent) return;
    heading.tabIndex = 0;
    heading.setAttribute("role", "button");
    let down = false;
    const sort = () => {
      down = !down;
      const value = (row) => row.cells[column].textContent.trim();
      const rows = [...body.rows].sort((a, b) => {
        const x = value(a), y = value(b), n = parseFloat(x.replace(/,/g, "")), m = parseFloat(y.replace(/,/g, ""));
        const order = isNaN(n) || isNaN(m) ? x.localeCompare(y) : n - m;
        return down ? -order : order;
      });
      body.append(...rows);
    };
    heading.addEventListener("click", sort);
    heading.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
}

function follow(address) {
  const list = document.querySelector("#live ol");
  const lines = new Map();
  let from = 0, state = null;
  async function look() {
    try {
      const answer = await fetch(address + (list ? "?from=" + from : ""));
      const told = await answer.json();
      const fresh = JSON.stringify(told.state);
      if (state !== null && fresh !== state && !list) { location.reload(); return; }
      if (list) {
        from = told.from;
        for (const event of told.events) {
          if (event.event === "end") { const gone = lines.get(event.key); if (gone) gone.remove(); lines.delete(event.key); continue; }
          let line = lines.get(event.key);
          if (!line) { line = document.createElement("li"); lines.set(event.key, line); list.append(line); }
          line.textContent = event.key + (event.step ? " · step " + event.step + ": " + (event.action || "no action") : " · started");
        }
        if (told.state && told.state[0] !== "running") { location.reload(); return; }
      }
      state = fresh;
    } catch (error) {
      // The server may have been stopped; look again later.
    }
    setTimeout(look, 2000);
  }
  look();
}

document.querySelectorAll(".replay").forEach(replay);
document.querySelectorAll("table.sortable").forEach(sortable);
if (document.body.dataset.follow) follow(document.body.dataset.follow);
