// The one script of all pages. Every page is whole without it. It adds what changes while somebody
// looks, clicks on boards, and steps through a game without loading the page again.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const setText = (id, text) => { const at = byId(id); if (at) at.textContent = text; };

  // Settings take effect at once.
  for (const select of document.querySelectorAll("[data-submits]")) {
    select.addEventListener("change", () => select.form.requestSubmit());
  }
  document.documentElement.classList.add("scripted");

  // ---- What changes while somebody looks ----

  const say = (text) => { setText("said", text); };

  function apply(changes) {
    for (const [id, html] of Object.entries(changes.inner || {})) {
      const at = byId(id);
      if (!at) continue;
      // What somebody is typing stays.
      const typed = at.querySelector("#written");
      const kept = typed && document.activeElement === typed ? typed.value : null;
      const focused = at.contains(document.activeElement) ? document.activeElement : null;
      const name = focused && (focused.id || focused.getAttribute("data-says") || focused.value);
      at.innerHTML = html;
      const again = at.querySelector("#written");
      if (kept !== null && again) { again.value = kept; again.focus(); }
      else if (focused) refocus(at, focused, name);
      if (id === "board") clearChosen();
    }
    for (const [id, html] of Object.entries(changes.outer || {})) {
      const at = byId(id);
      if (!at) continue;
      const hadFocus = at.contains(document.activeElement);
      at.outerHTML = html;
      if (hadFocus) { const now = byId(id); if (now && now.focus) now.focus(); }
    }
    if (changes.said) say(changes.said);
    const moves = byId("moves");
    if (moves && moves.scrollHeight > moves.clientHeight) moves.scrollTop = moves.scrollHeight;
  }

  function refocus(at, was, name) {
    const now = [...at.querySelectorAll(was.tagName)].find((one) =>
      (one.id || one.getAttribute("data-says") || one.value) === name);
    if (now) now.focus();
  }

  const from = document.body.dataset.events;
  if (from) {
    const lost = byId("lost");
    let source = null;
    let losing = null;
    const found = () => { clearTimeout(losing); losing = null; lost.hidden = true; };
    const follow = () => {
      source = new EventSource(from);
      source.onopen = found;
      source.onmessage = (event) => {
        found();
        const changes = JSON.parse(event.data);
        apply(changes);
        if (changes.last) source.close();
      };
      source.onerror = () => {
        // The browser comes again by itself, unless it was refused: there was no room.
        if (source.readyState === EventSource.CLOSED) setTimeout(follow, 30000);
        // A connection ends after a while, and the next one is there in a moment.
        losing ??= setTimeout(() => { lost.hidden = false; }, 5000);
      };
    };
    follow();
    // A page that is left says so at once.
    window.addEventListener("pagehide", () => source.close());
    window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  }

  // ---- What people do in a game ----

  async function act(form, submitter) {
    const fields = new URLSearchParams(new FormData(form, submitter));
    const message = byId("message");
    try {
      const answer = await fetch(form.action, {
        method: "POST", body: fields, headers: { Accept: "application/json" },
      });
      const told = answer.headers.get("content-type")?.startsWith("application/json")
        ? (await answer.json()).message || "" : "";
      if (message) message.textContent = told;
      if (answer.ok && form.id === "move") { const typed = byId("written"); if (typed) typed.value = ""; }
      if (answer.ok) clearChosen();
    } catch {
      byId("lost").hidden = false;
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !("acts" in form.dataset)) return;
    event.preventDefault();
    if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) return;
    act(form, event.submitter);
  });

  // Cards and tiles that are chosen for a move of several.
  const chosen = [];
  function clearChosen() {
    chosen.length = 0;
    for (const one of document.querySelectorAll(".chosen")) one.classList.remove("chosen");
  }

  function choose(cell) {
    const form = byId("move");
    const typed = byId("written");
    if (!form || !typed) return;
    const says = cell.dataset.says;
    if ("many" in form.dataset) {
      const at = chosen.indexOf(says);
      if (at >= 0) chosen.splice(at, 1); else chosen.push(says);
      cell.classList.toggle("chosen", at < 0);
      typed.value = chosen.join(" ");
      return;
    }
    if (!cell.dataset.move) return;
    typed.value = cell.dataset.move;
    form.requestSubmit();
  }

  document.addEventListener("click", (event) => {
    const cell = event.target.closest?.("#board [data-says]");
    if (cell) choose(cell);
  });
  document.addEventListener("dblclick", (event) => {
    const form = byId("move");
    const cell = event.target.closest?.("#board [data-move]");
    if (!cell || !form || !("many" in form.dataset)) return;
    byId("written").value = cell.dataset.move;
    form.requestSubmit();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    const cell = event.target.closest?.("#board [data-says]");
    if (!cell) return;
    event.preventDefault();
    choose(cell);
  });

  // ---- Stepping through a game that is over ----

  const viewer = byId("viewer");
  if (!viewer) return;
  const plies = Number(viewer.dataset.plies);
  let ply = Number(viewer.dataset.ply);
  let frames = null;
  let shown = null;
  let timer = null;
  const scrubber = byId("scrubber");
  const autoplay = byId("autoplay");
  const words = { play: autoplay.textContent };

  const loading = viewer.dataset.inline
    ? Promise.resolve(JSON.parse(byId(viewer.dataset.inline).textContent))
    : fetch(viewer.dataset.frames).then((answer) => (answer.ok ? answer.json() : Promise.reject()));
  loading.then((loaded) => {
    frames = loaded;
    for (const one of [scrubber, autoplay]) one.hidden = false;
    const keys = viewer.querySelector(".keys");
    if (keys) keys.hidden = false;
    draw();
  }).catch(() => {});

  function draw() {
    if (!frames) return;
    const frame = frames.frames[ply];
    const svg = byId("board").querySelector("svg");
    const same = shown && shown.length === frame.parts.length;
    svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    if (same) {
      frame.parts.forEach((part, at) => {
        if (part !== shown[at]) svg.children[at].outerHTML = frames.parts[part];
      });
    } else {
      svg.innerHTML = frame.parts.map((part) => frames.parts[part]).join("");
    }
    shown = frame.parts;
    setText("position", frame.spoken);
    setText("ply", `${ply} / ${plies}`);
    scrubber.value = String(ply);
    const graph = document.querySelector("#evaluation svg");
    if (graph) {
      const { left, right, last } = graph.dataset;
      const x = Number(left) + (Number(right) - Number(left)) * ply / Number(last);
      const cursor = graph.querySelector(".cursor");
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
    }
    for (const link of document.querySelectorAll("#moves a")) {
      const is = Number(link.dataset.ply) === ply;
      if (is) {
        link.setAttribute("aria-current", "step");
        link.scrollIntoView({ block: "nearest" });
        say(link.textContent.trim());
      } else link.removeAttribute("aria-current");
    }
    const seat = viewer.dataset.seat;
    const evaluated = graph ? "&evaluation=yes" : "";
    const address = `${viewer.dataset.at}?ply=${ply}${seat === undefined ? "" : `&seat=${seat}`}${evaluated}`;
    if (viewer.dataset.at) history.replaceState(null, "", address);
    const steps = { first: 0, back: Math.max(0, ply - 1), on: Math.min(plies, ply + 1), last: plies };
    for (const link of viewer.querySelectorAll("[data-step]")) {
      link.dataset.to = String(steps[link.dataset.step]);
    }
    for (const link of viewer.querySelectorAll("[data-sight]")) {
      const of = link.dataset.sight;
      if (viewer.dataset.at) {
        link.href = `${viewer.dataset.at}?ply=${ply}${of === "" ? "" : `&seat=${of}`}${evaluated}`;
      }
    }
    const picture = byId("picture-link");
    if (picture) {
      picture.href = `${viewer.dataset.at}/picture?ply=${ply}${seat === undefined ? "" : `&seat=${seat}`}`;
    }
  }

  function go(to) {
    ply = Math.min(plies, Math.max(0, to));
    draw();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    autoplay.textContent = words.play;
    autoplay.setAttribute("aria-pressed", "false");
  }

  function toggle() {
    if (timer) return stop();
    if (ply === plies) go(0);
    autoplay.textContent = autoplay.dataset.pause;
    autoplay.setAttribute("aria-pressed", "true");
    timer = setInterval(() => { if (ply >= plies) stop(); else go(ply + 1); }, 700);
  }

  scrubber.addEventListener("input", () => { stop(); go(Number(scrubber.value)); });
  autoplay.addEventListener("click", toggle);
  // A click on the graph goes to its move.
  document.querySelector("#evaluation svg")?.addEventListener("click", (event) => {
    const graph = event.currentTarget;
    const { left, right, last } = graph.dataset;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(graph.getScreenCTM().inverse());
    stop();
    go(Math.round((at.x - Number(left)) / (Number(right) - Number(left)) * Number(last)));
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("#viewer [data-step], #moves a");
    if (!link || !frames || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    stop();
    go(Number(link.dataset.to ?? link.dataset.ply));
  });
  document.addEventListener("keydown", (event) => {
    if (!frames || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.("input:not([type=range]), textarea, select, button, summary")) return;
    const steps = { ArrowLeft: ply - 1, ArrowRight: ply + 1, Home: 0, End: plies };
    if (event.key in steps) { event.preventDefault(); stop(); go(steps[event.key]); }
    else if (event.key === " " && !event.target.matches?.("a")) { event.preventDefault(); toggle(); }
  });
})();
