
"use strict";
// The table of pull requests. Texts are put in as text alone.
(() => {
  const all = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const make = (tag, text, name) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  };
  const STEP = 200;
  const columns = [
    ["id", "pull request", "text"], ["outcome", "verdict", "text"], ["kind", "kind", "text spare"], ["language", "language", "text"],
    ["fails", "F2P", ""], ["pass_to_pass", "P2P", ""], ["lines", "lines", "spare"], ["files", "files", "spare"], ["seconds", "seconds", ""], ["reason", "why", "text reason"],
  ];
  for (const one of all) {
    one.fails = one.fail_to_pass.length;
    one.words = [one.id, one.outcome, one.kind, one.language, one.reason, ...one.fail_to_pass].join("\n").toLowerCase();
  }
  const languages = [...new Set(all.map((one) => one.language))].filter((word) => word).sort();
  for (const word of languages) at("language").append(new Option(word, word));

  let by = "id", downwards = false, shown = STEP, found = [];
  const open = new Set();
  const table = at("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const [key, title, name] of columns) {
    const cell = make("th", undefined, name.replace("reason", ""));
    cell.scope = "col";
    const button = make("button", title);
    button.type = "button";
    button.addEventListener("click", () => {
      downwards = by === key ? !downwards : key !== "id" && typeof (all[0] || {})[key] === "number";
      by = key;
      show();
    });
    cell.append(button);
    cell.dataset.key = key;
    head.append(cell);
  }

  const list = (title, lines) => {
    if (!lines.length) return [];
    const items = make("ul");
    for (const line of lines) items.append(make("li", line));
    return [make("h3", title), items];
  };
  const detail = (one) => {
    const row = make("tr", undefined, "detail"), cell = row.insertCell();
    cell.colSpan = columns.length;
    cell.append(make("pre", one.reason), ...list("told from", one.evidence), ...list("FAIL_TO_PASS", one.fail_to_pass),
      ...list("warnings", one.warnings), make("h3", "artefacts"), make("pre", one.folder));
    return row;
  };
  const line = (one) => {
    const row = make("tr", undefined, "head");
    for (const [key, , name] of columns) {
      const cell = make(key === "id" ? "th" : "td", undefined, name);
      if (key === "id") {
        cell.scope = "row";
        const button = make("button", one.id);
        button.type = "button";
        button.setAttribute("aria-expanded", String(open.has(one.id)));
        cell.append(button);
      } else if (key === "reason") {
        // The line of a log behind a bare verdict says more than the verdict.
        const said = one.reason.split("\n").map((part) => part.trim());
        const proof = one.outcome !== "accepted" && said[1] && !said[1].startsWith("fault:") ? " · " + said[1] : "";
        cell.textContent = said[0] + proof;
      } else if (key === "outcome") {
        cell.append(make("span", one.outcome, one.outcome === "accepted" ? "yes" : "no"));
      } else if (key === "seconds") {
        cell.textContent = one.seconds.toFixed(1);
      } else {
        cell.textContent = one[key];
      }
      row.append(cell);
    }
    row.addEventListener("click", () => {
      const button = row.querySelector("button"), was = open.has(one.id);
      if (was) {
        open.delete(one.id);
        row.nextElementSibling.remove();
      } else {
        open.add(one.id);
        row.after(detail(one));
      }
      button.setAttribute("aria-expanded", String(!was));
      history.replaceState(null, "", was ? "#" : "#" + encodeURIComponent(one.id));
    });
    return open.has(one.id) ? [row, detail(one)] : [row];
  };
  const show = () => {
    const words = at("search").value.toLowerCase().split(/\s+/).filter((word) => word);
    const outcome = at("outcome").value, language = at("language").value;
    found = all.filter((one) => (!outcome || one.outcome === outcome) && (!language || one.language === language) &&
      words.every((word) => one.words.includes(word)));
    const sign = downwards ? -1 : 1;
    found.sort((a, b) => sign * (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0) || (a.id < b.id ? -1 : 1));
    for (const cell of head.cells) {
      cell.setAttribute("aria-sort", cell.dataset.key !== by ? "none" : downwards ? "descending" : "ascending");
    }
    body.replaceChildren(...found.slice(0, shown).flatMap(line));
    at("count").textContent = found.length + " of " + all.length;
    at("more").hidden = found.length <= shown;
  };
  for (const id of ["search", "outcome", "language"]) {
    at(id).addEventListener("input", () => { shown = STEP; show(); });
  }
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("more").addEventListener("click", () => { shown += 5 * STEP; show(); });

  const go = () => {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { /* no name of anything */ }
    if (!all.some((one) => one.id === id)) return;
    open.add(id);
    for (const field of ["search", "outcome", "language"]) at(field).value = "";
    shown = all.length < 2000 ? all.length : shown;
    show();
    let row = [...body.querySelectorAll("button")].find((button) => button.textContent === id);
    if (!row) {
      at("search").value = id;
      show();
      row = [...body.querySelectorAll("button")].find((button) => button.textContent === id);
    }
    if (row) { row.scrollIntoView({ block: "center" }); row.focus(); }
  };
  const theme = at("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
  });
  addEventListener("hashchange", go);
  show();
  go();
})();
