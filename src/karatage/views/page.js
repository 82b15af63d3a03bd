/* Draws the charts, sorts the tables, and follows one system or judge through all of them. */
"use strict";
(() => {
  const INK = { light: "#1a1a1a", dark: "#ececec" };
  const SOFT = { light: "#595959", dark: "#adadad" };
  const LINE = { light: "#d9d9d9", dark: "#3d3d3d" };
  const STORES = { system: "chosen_store", judge: "chosen_judge_store" };
  const MISSING = new Set(["", "–", "-"]);
  const LONGEST_OPTION = 60;

  const root = document.documentElement;
  const preference = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = { system: "", judge: "" };
  const views = {};

  const findTheme = () => root.dataset.theme || (preference.matches ? "dark" : "light");

  const configure = (theme) => ({
    background: "transparent",
    title: { color: INK[theme], subtitleColor: SOFT[theme] },
    axis: { labelColor: SOFT[theme], titleColor: INK[theme], domainColor: LINE[theme], gridColor: LINE[theme], tickColor: LINE[theme] },
    header: { labelColor: SOFT[theme], titleColor: INK[theme] },
    legend: { labelColor: SOFT[theme], titleColor: INK[theme] },
    style: { "guide-label": { fill: SOFT[theme] }, "guide-title": { fill: INK[theme] } },
    text: { color: INK[theme] },
    view: { stroke: LINE[theme] },
  });

  const hold = (kind, name) =>
    name === "" ? [] : [{ unit: "", fields: [{ type: "E", field: kind }], values: [name] }];

  const isHeld = (view, store, name) => {
    const held = view.data(store);
    return name === "" ? held.length === 0 : held.length === 1 && held[0].values[0] === name;
  };

  function followInCharts(kind) {
    for (const view of Object.values(views)) {
      const store = STORES[kind];
      if (view.stores.has(store) && !isHeld(view.view, store, chosen[kind])) {
        view.view.data(store, hold(kind, chosen[kind])).runAsync();
      }
    }
  }

  function followInTables(kind) {
    for (const row of document.querySelectorAll(`tr[data-${kind}]`)) {
      row.classList.toggle("chosen", chosen[kind] !== "" && row.dataset[kind] === chosen[kind]);
    }
  }

  function choose(kind, name) {
    if (chosen[kind] === name) return;
    chosen[kind] = name;
    const select = document.getElementById(kind);
    if (select) select.value = name;
    followInTables(kind);
    followInCharts(kind);
  }

  async function draw(figure, theme) {
    const name = figure.dataset.name;
    const spec = JSON.parse(figure.querySelector("script.spec").textContent);
    for (const parameter of spec.params || []) {
      if (Object.values(STORES).includes(`${parameter.name}_store`)) delete parameter.bind; /* the page has its own list */
    }
    const place = figure.querySelector(".drawn");
    if (views[name]) views[name].view.finalize();
    const options = { mode: "vega-lite", actions: false, renderer: "svg", ast: true, defaultStyle: false, config: configure(theme), tooltip: { theme } };
    const { view } = await window.vegaEmbed(place, spec, options);
    const known = new Set();
    for (const [kind, store] of Object.entries(STORES)) {
      try {
        view.data(store);
      } catch {
        continue; /* a chart that follows nothing of this kind */
      }
      known.add(store);
      if (chosen[kind] !== "") await view.data(store, hold(kind, chosen[kind])).runAsync();
      view.addDataListener(store, (_, held) => choose(kind, held.length ? String(held[0].values[0]) : ""));
    }
    views[name] = { view, stores: known };
    figure.classList.add("live");
  }

  async function drawAll() {
    const theme = findTheme();
    delete root.dataset.ready;
    for (const figure of document.querySelectorAll("figure.chart")) await draw(figure, theme);
    root.dataset.ready = theme;
  }

  function readNumber(text) {
    if (MISSING.has(text)) return NaN;
    const plain = text.replace(/[,\s%+]/g, "").replace("−", "-").replace("∞", "Infinity").replace(/^</, "");
    return Number(plain) - (text.startsWith("<") ? 1e-12 : 0);
  }

  function sortBy(table, header, column) {
    const numeric = header.classList.contains("n");
    const before = header.getAttribute("aria-sort");
    const up = before ? before === "descending" : !numeric;
    const body = table.tBodies[0];
    const keyed = Array.from(body.rows, (row) => {
      const text = row.cells[column].textContent.trim();
      return { row, key: numeric ? readNumber(text) : text, empty: MISSING.has(text) };
    });
    const compare = numeric ? (x, y) => x - y : (x, y) => x.localeCompare(y, "en", { numeric: true });
    keyed.sort((x, y) => x.empty - y.empty || (x.empty ? 0 : (up ? 1 : -1) * compare(x.key, y.key)));
    body.append(...keyed.map(({ row }) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
  }

  function makeSortable(table) {
    Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
      if (header.tagName !== "TH") return; /* a corner that says nothing */
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = header.textContent;
      header.replaceChildren(button);
      button.addEventListener("click", () => sortBy(table, header, column));
    });
  }

  function fillSelect(kind) {
    const names = new Set(Array.from(document.querySelectorAll(`tr[data-${kind}]`), (row) => row.dataset[kind]));
    const label = document.querySelector(`label[for="${kind}"]`);
    if (names.size < 2) {
      label.remove();
      return;
    }
    const select = document.getElementById(kind);
    for (const name of names) {
      const letters = Array.from(name);
      const shown = letters.length > LONGEST_OPTION ? `${letters.slice(0, LONGEST_OPTION).join("")}…` : name;
      select.append(new Option(shown, name));
    }
    select.addEventListener("change", () => choose(kind, select.value));
    document.addEventListener("click", (event) => {
      const row = event.target.closest(`tbody tr[data-${kind}]`);
      if (row) choose(kind, row.dataset[kind] === chosen[kind] ? "" : row.dataset[kind]);
    });
  }

  function switchTheme() {
    root.dataset.theme = findTheme() === "dark" ? "light" : "dark";
    nameTheme();
    drawAll();
  }

  function nameTheme() {
    document.getElementById("theme").textContent = findTheme() === "dark" ? "Light" : "Dark";
  }

  document.querySelector(".controls").hidden = false;
  document.querySelectorAll("table").forEach(makeSortable);
  fillSelect("system");
  fillSelect("judge");
  nameTheme();
  document.getElementById("theme").addEventListener("click", switchTheme);
  preference.addEventListener("change", () => {
    if (!root.dataset.theme) {
      nameTheme();
      drawAll();
    }
  });
  window.karatage = { views, choose };
  drawAll();
})();
