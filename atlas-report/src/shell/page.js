"use strict";
// Texts reach the page through textContent alone, so that none of them is read as HTML.
(() => {
  const PAGE = 100;
  const el = (name, attributes, ...inside) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    for (const child of inside) if (child !== null) made.append(child);
    return made;
  };
  const size = (n) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let at = 0;
    while (n >= 1024 && at < units.length - 1) { n /= 1024; at += 1; }
    return (at && n < 10 ? n.toFixed(1) : Math.round(n)) + " " + units[at];
  };
  const shown = (column, value) => {
    if (value === null || value === undefined) return "–";
    if (column.kind === "bytes") return size(value);
    if (column.kind === "seconds") return value.toFixed(1);
    if (column.kind === "number") return value.toLocaleString("en");
    return String(value);
  };
  const isNumber = (column) => ["number", "seconds", "bytes"].includes(column.kind);

  // Colours: as the system says, until a reader chooses.
  const kept = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("atlas-theme") || "";
      localStorage.setItem("atlas-theme", value);
    } catch { /* a page from a file may have no storage */ }
    return value || "";
  };
  const theme = (name) => {
    if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
    const button = document.getElementById("theme");
    if (button) button.textContent = "Colours: " + (name || "system");
  };
  theme(kept());
  document.getElementById("theme")?.addEventListener("click", () => {
    const next = { "": "dark", dark: "light", light: "" }[document.documentElement.dataset.theme || ""];
    kept(next);
    theme(next);
  });

  // The state of all tables stands in the address, behind `#?`.
  const state = () => new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
  const keep = (change) => {
    const all = state();
    for (const [key, value] of Object.entries(change)) {
      if (value === "" || value === null) all.delete(key); else all.set(key, value);
    }
    const text = all.toString();
    history.replaceState(null, "", text ? "#?" + text : location.pathname + location.search);
  };

  const block = (more) => {
    const part = el("div");
    part.append(el("h4", {}, more.title));
    if (more.link) part.append(el("p", {}, el("a", { href: more.link }, more.text)));
    else if (more.kind === "diff") {
      const pre = el("pre", { tabindex: "0", "aria-label": more.title });
      for (const line of more.text.split("\n")) {
        const kind = /^(diff |index |\+\+\+ |--- )/.test(line) ? "f" : line[0] === "+" ? "a" : line[0] === "-" ? "d" : line[0] === "@" ? "h" : "";
        pre.append(kind ? el("span", { class: kind }, line || " ") : line + "\n");
      }
      part.append(pre);
    } else if (more.kind === "lines") part.append(el("pre", { tabindex: "0", "aria-label": more.title }, more.text));
    else part.append(el("p", {}, more.text));
    return part;
  };

  const table = (box) => {
    const id = box.dataset.table;
    const data = JSON.parse(document.getElementById("data-" + id).textContent);
    const key = (name) => id + "." + name;
    const now = state();
    const at = { q: now.get(key("q")) || "", sort: now.get(key("sort")) || "", page: Number(now.get(key("page")) || 0), row: now.get(key("row")) || "", filters: {} };
    const columns = data.columns;
    for (const column of columns) if (column.kind === "choice") at.filters[column.key] = now.get(key(column.key)) || "";
    const place = new Map(columns.map((column, index) => [column.key, index]));
    // Words of rows are put together when they are first searched.
    const words = new Array(data.rows.length);
    const wordsOf = (index) => words[index] ??= data.rows[index].cells.join("\n").toLowerCase();

    const search = el("input", { type: "search", autocomplete: "off" });
    search.value = at.q;
    const tools = el("div", { class: "tools" }, el("label", {}, "Search", search));
    const selects = [];
    for (const column of columns.filter((one) => one.kind === "choice")) {
      const counts = new Map();
      for (const row of data.rows) {
        const value = String(row.cells[place.get(column.key)] ?? "");
        counts.set(value, (counts.get(value) || 0) + 1);
      }
      const select = el("select", {}, el("option", { value: "" }, "all"));
      for (const [value, count] of [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))) {
        select.append(el("option", { value: "=" + value }, (value || "none") + " (" + count + ")"));
      }
      select.value = at.filters[column.key];
      select.addEventListener("change", () => { at.filters[column.key] = select.value; at.page = 0; keep({ [key(column.key)]: select.value }); draw(); });
      tools.append(el("label", {}, column.label, select));
      selects.push([column.key, select]);
    }
    const clear = el("button", { type: "button" }, "Clear");
    clear.addEventListener("click", () => {
      at.q = search.value = ""; at.page = 0; at.row = "";
      const change = { [key("q")]: "", [key("page")]: "", [key("row")]: "" };
      for (const [name, select] of selects) { at.filters[name] = select.value = ""; change[key(name)] = ""; }
      keep(change);
      draw();
    });
    tools.append(clear);
    search.addEventListener("input", () => { at.q = search.value; at.page = 0; keep({ [key("q")]: at.q, [key("page")]: "" }); draw(); });

    const said = el("p", { class: "soft", role: "status" });
    const head = el("tr");
    for (const column of columns) {
      const button = el("button", { type: "button" }, column.label);
      const cell = el("th", { scope: "col" }, button);
      if (isNumber(column)) cell.className = "n";
      button.addEventListener("click", () => {
        const first = isNumber(column) ? "-" : "+";
        at.sort = at.sort.slice(1) === column.key ? (at.sort[0] === "-" ? "+" : "-") + column.key : first + column.key;
        at.page = 0;
        keep({ [key("sort")]: at.sort, [key("page")]: "" });
        draw();
      });
      cell.dataset.key = column.key;
      head.append(cell);
    }
    const body = el("tbody");
    const grid = el("table", { class: "grid" }, el("caption", {}, data.caption), el("thead", {}, head), body);
    const before = el("button", { type: "button" }, "Previous page");
    const after = el("button", { type: "button" }, "Next page");
    const pages = el("div", { class: "tools pages" }, before, after);
    before.addEventListener("click", () => { at.page -= 1; keep({ [key("page")]: at.page || "" }); draw(); });
    after.addEventListener("click", () => { at.page += 1; keep({ [key("page")]: at.page }); draw(); });
    box.replaceChildren(tools, said, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": data.caption }, grid), pages);

    // What rows open to lies apart, a line each: only what is opened is read.
    let lines = null;
    const open = (index, line) => {
      const inside = el("div", { class: "more" });
      lines ??= document.getElementById("more-" + id).textContent.split("\n");
      for (const more of JSON.parse(lines[index])) inside.append(block(more));
      line.after(el("tr", { class: "open" }, el("td", { colspan: String(columns.length) }, inside)));
    };
    let found = [];
    const draw = () => {
      const asked = at.q.toLowerCase().split(/\s+/).filter(Boolean);
      found = [];
      for (let index = 0; index < data.rows.length; index += 1) {
        const cells = data.rows[index].cells;
        let fits = true;
        for (const name in at.filters) {
          const wanted = at.filters[name];
          if (wanted && "=" + String(cells[place.get(name)] ?? "") !== wanted) { fits = false; break; }
        }
        if (fits && asked.length) fits = asked.every((word) => wordsOf(index).includes(word));
        if (fits) found.push(index);
      }
      if (at.sort) {
        const column = place.get(at.sort.slice(1));
        const sign = at.sort[0] === "-" ? -1 : 1;
        if (column !== undefined) found.sort((a, b) => {
          const [x, y] = [data.rows[a].cells[column], data.rows[b].cells[column]];
          const [none, other] = [x === null || x === undefined, y === null || y === undefined];
          if (none || other) return none - other || a - b;
          return (x < y ? -sign : x > y ? sign : 0) || a - b;
        });
      }
      const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
      if (at.row) {
        const where = found.findIndex((index) => data.rows[index].id === at.row);
        if (where >= 0 && at.jump) at.page = Math.floor(where / PAGE);
      }
      at.jump = false;
      at.page = Math.min(Math.max(0, at.page), last);
      for (const cell of head.children) {
        const way = at.sort.slice(1) !== cell.dataset.key ? "none" : at.sort[0] === "-" ? "descending" : "ascending";
        cell.setAttribute("aria-sort", way);
      }
      const shownLines = document.createDocumentFragment();
      for (const index of found.slice(at.page * PAGE, (at.page + 1) * PAGE)) {
        const row = data.rows[index];
        const line = el("tr");
        columns.forEach((column, number) => {
          const value = row.cells[number];
          const cell = el("td", {});
          if (number === 0 && row.opens) {
            const button = el("button", { type: "button", "aria-expanded": String(at.row === row.id) }, shown(column, value));
            button.addEventListener("click", () => {
              const next = line.nextElementSibling;
              const isOpen = next && next.classList.contains("open");
              if (isOpen) next.remove(); else open(index, line);
              button.setAttribute("aria-expanded", String(!isOpen));
              at.row = isOpen ? "" : row.id;
              keep({ [key("row")]: at.row });
            });
            cell.append(button);
          } else cell.append(shown(column, value));
          if (isNumber(column)) cell.className = "n"; else if (column.kind === "text") cell.className = "t";
          const tone = row.tones && row.tones[column.key];
          if (tone) cell.classList.add(tone);
          line.append(cell);
        });
        shownLines.append(line);
        if (at.row === row.id) open(index, line);
      }
      body.replaceChildren(shownLines);
      const from = found.length ? at.page * PAGE + 1 : 0;
      said.textContent = from + "–" + Math.min(found.length, (at.page + 1) * PAGE) + " of " + found.length.toLocaleString("en")
        + (found.length === data.rows.length ? "" : ", out of " + data.rows.length.toLocaleString("en"));
      pages.hidden = last === 0;
      before.disabled = at.page === 0;
      after.disabled = at.page === last;
    };
    at.jump = Boolean(at.row);
    draw();
    if (at.row) body.querySelector("tr.open")?.previousElementSibling?.scrollIntoView({ block: "center" });
    return { search, before, after };
  };
  let tables = [];
  const draw = () => { tables = [...document.querySelectorAll("[data-table]")].map(table); };
  draw();

  // A test in three logs: every pane goes to the line that its result was read from.
  const goTo = (button) => {
    document.querySelectorAll(".log li.here").forEach((one) => one.classList.remove("here"));
    for (const id of button.dataset.lines.split(" ")) {
      const line = document.getElementById(id);
      if (!line) continue;
      line.classList.add("here");
      const pane = line.closest(".log");
      pane.scrollTop = line.offsetTop - pane.clientHeight / 3;
    }
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-lines]");
    if (!button) return;
    goTo(button);
    document.getElementById("logs")?.scrollIntoView();
  });
  const first = document.querySelector("[data-lines]");
  if (first) goTo(first);
  const target = () => {
    if (!location.hash || location.hash.startsWith("#?")) return;
    const line = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const pane = line?.closest(".log");
    if (pane) pane.scrollTop = line.offsetTop - pane.clientHeight / 3;
    line?.closest("details")?.setAttribute("open", "");
  };
  addEventListener("hashchange", () => { if (location.hash.startsWith("#?")) draw(); else target(); });
  target();

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const first = tables[0];
    if (event.key === "/" && first) { event.preventDefault(); first.search.focus(); }
    else if (event.key === "n" && first && !first.after.disabled) first.after.click();
    else if (event.key === "p" && first && !first.before.disabled) first.before.click();
    else if (event.key === "t") document.getElementById("theme")?.click();
  });

  // Served live: what changed is put in place, and the reader stays where they are.
  const live = document.querySelector('meta[name="atlas-live"]');
  if (live) {
    let tag = live.content;
    const say = (text) => { const said = document.getElementById("live"); if (said) said.textContent = text; };
    const look = async () => {
      try {
        const answer = await fetch(location.pathname, { headers: { "If-None-Match": tag }, cache: "no-store" });
        say(answer.ok || answer.status === 304 ? "live" : "live: " + answer.status);
        const isBusy = document.activeElement?.closest("main input, main select");
        if (answer.status === 200 && !isBusy) {
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          const [x, y] = [scrollX, scrollY];
          const opened = [...document.querySelectorAll("details")].map((one) => one.open);
          document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
          document.querySelectorAll("details").forEach((one, index) => { if (index in opened) one.open = opened[index]; });
          draw();
          scrollTo(x, y);
          tag = answer.headers.get("ETag") || "";
        }
      } catch { say("live: nothing answers"); }
      setTimeout(look, 3000);
    };
    look();
  }
})();
