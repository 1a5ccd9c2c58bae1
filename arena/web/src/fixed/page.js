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
  // The address in the page may be that of another position by now.
  document.querySelector("a.skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  setText("address", location.origin + location.pathname);

  // A link that logs in has its token behind the #, which no server and no log sees. Whoever opens it
  // logs in: a link alone logs nobody in, who would then hand in for somebody else.
  const invited = new URLSearchParams(location.hash.slice(1)).get("token");
  if (invited && byId("login")) {
    history.replaceState(null, "", location.pathname);
    byId("token").value = invited;
    byId("login").querySelector("button").focus();
  }

  // ---- Tables that are sorted, and looked through by name ----

  // By the element that holds the table, which is made anew when it changes: the column and the order.
  const sorted = new Map();

  function arrange(root) {
    for (const table of root.querySelectorAll("table[data-sorts]")) {
      const holder = table.closest("[id]")?.id;
      table.tHead.querySelectorAll("th").forEach((head) => {
        const button = document.createElement("button");
        button.type = "button";
        button.value = `sort-${head.cellIndex}`;
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => {
          const [column, order] = sorted.get(holder) || [];
          // Numbers begin with the largest one: that is what is looked for.
          const first = head.classList.contains("number") && head.cellIndex > 0 ? -1 : 1;
          sorted.set(holder, [head.cellIndex, column === head.cellIndex ? -order : first]);
          sort(table, ...sorted.get(holder));
        });
      });
      if (sorted.has(holder)) sort(table, ...sorted.get(holder));
    }
    for (const input of document.querySelectorAll("[data-filters]")) filter(input);
  }

  function sort(table, column, order) {
    const value = (row) => {
      const cell = row.cells[column];
      const text = (cell.dataset.value ?? cell.textContent).trim();
      const number = parseFloat(text.replace("−", "-"));
      return Number.isNaN(number) || cell.tagName === "TH" ? text : number;
    };
    const rows = [...table.tBodies[0].rows].map((row) => [value(row), row]);
    rows.sort(([a], [b]) => {
      // What has no figure is last.
      if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
      return order * (typeof a === "number" ? a - b : a.localeCompare(b));
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
    for (const head of table.tHead.querySelectorAll("th")) {
      if (head.cellIndex === column) head.setAttribute("aria-sort", order > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
  }

  function filter(input) {
    const looked = input.value.trim().toLowerCase();
    for (const row of document.querySelectorAll(`#${input.dataset.filters} tbody tr`)) {
      row.hidden = !row.querySelector("th").textContent.toLowerCase().includes(looked);
    }
  }

  for (const input of document.querySelectorAll("[data-filters]")) {
    input.closest("[hidden]")?.removeAttribute("hidden");
    input.addEventListener("input", () => filter(input));
  }
  arrange(document);

  // ---- The settings of a game ----

  // The cells of a board are those that it has for sure: by chance it has at least as many as the
  // smallest one that can be chosen.
  for (const cells of document.querySelectorAll(".cells")) {
    const size = ["rows", "columns"].map((part) => cells.closest("form").elements[cells.dataset[part]]);
    const fit = () => {
      const [rows, columns] = size.map((select) => Number(select.value) ||
        Math.min(...[...select.options].map((option) => Number(option.value) || Infinity)));
      [...cells.children].forEach((row, at) => [...row.children].forEach((cell, column) => {
        cell.disabled = at >= rows || column >= columns;
      }));
    };
    for (const select of size) select.addEventListener("change", fit);
    fit();
  }

  // A slider for the strength of the opponent beside the list that has all of them.
  const strength = byId("strength");
  if (strength) {
    const against = byId("against");
    const rated = [...against.options].filter((option) => option.dataset.strength)
      .sort((a, b) => a.dataset.strength - b.dataset.strength);
    const show = () => {
      const at = rated.indexOf(against.selectedOptions[0]);
      strength.disabled = at < 0;
      if (at >= 0) strength.value = String(at + 1);
      strength.setAttribute("aria-valuetext", against.selectedOptions[0].textContent);
    };
    strength.max = String(rated.length);
    strength.parentElement.hidden = rated.length < 2;
    strength.addEventListener("input", () => { rated[Number(strength.value) - 1].selected = true; show(); });
    against.addEventListener("change", show);
    show();
  }

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
      arrange(at);
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

  // One reader of changes for all pages. A page that can be seen reads a stream. One that is hidden
  // asks now and then, so that whoever plays there is not away. One that gets no stream asks, too:
  // where a proxy holds streams back, and where other windows have as many as the browser allows.
  const from = document.body.dataset.events;
  // Over HTTP/1.1 a browser opens six connections to a host, for all of its windows.
  const STREAMS = 4;
  // Times in milliseconds: between two questions, of a page that is hidden, until a stream begins,
  // and between two signs that it lives, which the arena gives each 15 s.
  const [ASKS, ASKS_HIDDEN, BEGINS, SILENT] = [1000, 30000, 5000, 40000];
  // The longest pause after what failed, and the times without a stream after one that failed.
  const [PAUSE, REST, LONGEST_REST] = [30000, 30000, 3600000];
  // The reason why a stream is ended here.
  const LEFT = "left";
  let wake = () => {};

  async function follow() {
    const lost = byId("lost");
    const shown = new Map();
    let isOver = false;
    let tag = null;
    let stopper = null;
    let silence = null;
    let losing = null;
    let failed = 0;
    let rest = 0;
    let asksUntil = 0;

    const pause = (ms) => new Promise((done) => {
      const timer = setTimeout(done, ms);
      wake = () => { clearTimeout(timer); done(); };
    });
    // Those who lost the arena at one time do not come back at one time.
    const chance = (ms) => ms * (0.5 + Math.random() / 2);
    const found = () => {
      failed = 0;
      clearTimeout(losing);
      losing = null;
      lost.hidden = true;
    };
    const within = (ms) => {
      clearTimeout(silence);
      silence = setTimeout(() => stopper?.abort("silent"), ms);
    };
    const take = (changes) => {
      // What is as it was is not made anew.
      for (const [id, html] of Object.entries(changes.inner)) {
        if (shown.get(id) === html) delete changes.inner[id];
        else shown.set(id, html);
      }
      if (Object.keys(changes.outer).length > 0) shown.clear();
      apply(changes);
      isOver ||= changes.last;
    };
    const get = async (accept, known) => {
      stopper = new AbortController();
      within(accept === "text/event-stream" ? BEGINS : PAUSE);
      const headers = { Accept: accept, ...(known && { "If-None-Match": known }) };
      const answer = await fetch(from, { headers, cache: "no-store", signal: stopper.signal });
      if (!answer.ok && answer.status !== 304) throw new Error(`status ${answer.status}`);
      isOver ||= answer.status === 204;
      return answer;
    };

    async function ask() {
      const answer = await get("application/json", tag);
      if (answer.status === 200) {
        take(await answer.json());
        tag = answer.headers.get("ETag");
      }
      found();
    }

    async function read() {
      const began = Date.now();
      let text = "";
      let has = false;
      tag = null;
      const answer = await get("text/event-stream");
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      while (reader && !isOver) {
        const { done, value } = await reader.read();
        if (done) break;
        const events = (text + value).split("\n\n");
        text = events.pop();
        for (const line of events.flatMap((event) => event.split("\n"))) {
          if (!line.startsWith("data:")) continue;
          take(JSON.parse(line.slice("data:".length)));
          has = true;
          found();
        }
        // Some proxies let the beginning of a stream through.
        if (has) within(SILENT);
        if (Date.now() - began > SILENT / 4) rest = 0;
      }
      if (isOver) stopper.abort(LEFT);
      else if (!has) throw new Error("no stream");
    }

    // Reads a stream where there is a place for one. Without locks, which browsers have over HTTPS and
    // on the machine itself, that is in the window that is written into.
    async function readInPlace() {
      if (!navigator.locks) return document.hasFocus() && (await read(), true);
      for (let place = 0; place < STREAMS; place++) {
        const use = async (lock) => lock !== null && (await read(), true);
        if (await navigator.locks.request(`stream-${place}`, { ifAvailable: true }, use)) return true;
      }
      return false;
    }

    const leave = () => stopper?.abort(LEFT);
    let reads = false;
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && reads) leave();
      wake();
    });
    window.addEventListener("blur", () => { if (reads && !navigator.locks) leave(); });
    window.addEventListener("online", () => wake());
    // A page that is left says so at once.
    window.addEventListener("pagehide", () => { isOver = true; leave(); });
    window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

    while (!isOver) {
      let next = ASKS;
      stopper = null;
      reads = !document.hidden && Date.now() >= asksUntil;
      try {
        reads &&= await readInPlace();
        // A connection ends after a while, and the next one is there in a moment.
        if (reads) next = chance(ASKS);
        else await ask();
      } catch {
        // Not every browser fails with the reason that it was given.
        if (stopper?.signal.reason === LEFT) next = 0;
        else {
          if (reads) {
            rest = Math.min(LONGEST_REST, Math.max(REST, 2 * rest));
            asksUntil = Date.now() + rest;
          }
          failed += 1;
          next = chance(Math.min(PAUSE, ASKS * 2 ** (failed - 1)));
          losing ??= setTimeout(() => { lost.hidden = false; }, 5000);
        }
      }
      clearTimeout(silence);
      if (isOver) return;
      if (document.hidden) next = Math.max(next, ASKS_HIDDEN);
      await pause(next);
    }
  }
  if (from) follow();

  // ---- What people do in a game ----

  async function act(form, submitter) {
    const fields = new URLSearchParams(new FormData(form, submitter));
    const message = byId("message");
    let told = "";
    let isDone = false;
    try {
      const answer = await fetch(form.action, {
        method: "POST", body: fields, headers: { Accept: "application/json" },
      });
      isDone = answer.ok;
      // What a proxy answers is a page.
      if (answer.headers.get("content-type")?.startsWith("application/json")) {
        told = (await answer.json()).message || "";
      }
    } catch { /* It was not sent, or nobody has answered. */ }
    if (message) message.textContent = told || (isDone ? "" : message.dataset.failed);
    if (isDone && form.id === "move") { const typed = byId("written"); if (typed) typed.value = ""; }
    if (isDone) clearChosen();
    // Whoever reads no stream sees what came of it.
    wake();
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
  let seat = viewer.dataset.seat ?? "";
  let frames = null;
  let shown = null;
  let timer = null;
  // The moves that could be played are of one position, as one seat knew it.
  const line = byId("p-line");
  const [lineAt, lineOf] = [ply, seat];
  const hasLine = () => line !== null && ply === lineAt && seat === lineOf;
  const scrubber = byId("scrubber");
  const autoplay = byId("autoplay");
  const words = { play: autoplay.textContent };

  // All positions as a seat knew them, each seat's once.
  const loaded = new Map();
  function load(of) {
    if (!loaded.has(of)) {
      loaded.set(of, viewer.dataset.inline
        ? Promise.resolve(JSON.parse(byId(viewer.dataset.inline).textContent))
        : fetch(`${viewer.dataset.frames}${of === "" ? "" : `?seat=${of}`}`)
          .then((answer) => (answer.ok ? answer.json() : Promise.reject()))
          .catch((error) => { loaded.delete(of); throw error; }));
    }
    return loaded.get(of);
  }
  load(seat).then((first) => {
    frames = first;
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
    if (line) {
      if (hasLine()) svg.append(line); else line.remove();
      byId("line").hidden = !hasLine();
    }
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
    const balance = byId("balance");
    if (balance) balance.value = Number(balance.dataset.scores.split(" ")[ply]);
    for (const link of document.querySelectorAll("#moves a")) {
      const is = Number(link.dataset.ply) === ply;
      if (is) {
        link.setAttribute("aria-current", "step");
        show(link);
        say(link.textContent.trim());
      } else link.removeAttribute("aria-current");
    }
    const steps = { first: 0, back: Math.max(0, ply - 1), on: Math.min(plies, ply + 1), last: plies };
    for (const link of viewer.querySelectorAll("[data-step]")) {
      link.dataset.to = String(steps[link.dataset.step]);
    }
    if (!viewer.dataset.at) return;
    const position = (of) => `?ply=${ply}${of === "" ? "" : `&seat=${of}`}`;
    const evaluated = graph ? "&evaluation=yes" : "";
    for (const link of viewer.querySelectorAll("[data-sight]")) {
      link.href = `${viewer.dataset.at}${position(link.dataset.sight)}${evaluated}`;
      if (link.dataset.sight === seat) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    for (const link of document.querySelectorAll("[data-of-position]")) {
      link.href = `${viewer.dataset.at}/${link.dataset.ofPosition}${position(seat)}`;
    }
    const address = `${viewer.dataset.at}${position(seat)}${evaluated}`;
    for (const link of viewer.querySelectorAll("[data-asks]")) {
      link.href = `${address}&${link.dataset.asks}=yes#viewer`;
      link.hidden = ply === plies || hasLine();
    }
    remember(address);
  }

  // Moves a link into sight within its list. The page itself stays: the board is above the list where
  // the window is narrow.
  function show(link) {
    const list = byId("moves");
    const [inner, outer] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
    if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top;
    else if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
  }

  // The address of the page becomes that of the position. Browsers refuse to change it often, some
  // after 100 times in 30 s; the page goes on all the same, and it is changed later.
  let remembered = null;
  let remembering = null;
  function remember(address, later = 500) {
    remembered = address;
    remembering ??= setTimeout(() => {
      remembering = null;
      try { history.replaceState(null, "", remembered); } catch { remember(remembered, 10000); }
    }, later);
  }

  function go(to) {
    ply = Math.min(plies, Math.max(0, to));
    draw();
  }

  // The same position as another seat knew it.
  async function see(of) {
    const other = await load(of);
    [seat, frames, shown] = [of, other, null];
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

  // Tells others of the position. Browsers let a page do that over HTTPS and on the machine itself.
  const share = byId("share");
  if (share && (navigator.share || navigator.clipboard)) {
    share.hidden = false;
    share.addEventListener("click", async () => {
      const url = new URL(remembered ?? location.href, document.baseURI).href;
      try {
        if (navigator.share) await navigator.share({ title: document.title, url });
        else {
          await navigator.clipboard.writeText(url);
          share.textContent = share.dataset.done;
          say(share.dataset.done);
        }
      } catch { /* They have thought better of it. */ }
    });
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
    const link = event.target.closest?.("#viewer [data-step], #viewer [data-sight], #moves a, .turns a");
    if (!link || !frames || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if ("sight" in link.dataset) return void see(link.dataset.sight).catch(() => { location.assign(link.href); });
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
