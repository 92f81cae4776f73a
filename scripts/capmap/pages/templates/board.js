// The finished tables, as their files have them, and how their numbers are shown.
const content = JSON.parse(document.getElementById("data").textContent);
const collator = new Intl.Collator("en", { numeric: true });

class Sheet {
  constructor(table, key = "") {
    this.key = key;
    this.length = table?.rows ?? 0;
    this.columns = new Map(
      (table?.columns ?? []).map(({ name, cells }) => [
        name,
        Array.isArray(cells) ? cells : cells.codes.map((code) => cells.values[code]),
      ]),
    );
    this.names = [...this.columns.keys()];
  }

  text(name, row) {
    return this.columns.get(name)?.[row] ?? "";
  }

  number(name, row) {
    const text = this.text(name, row);
    return text === "" ? NaN : Number(text);
  }

  // Whether any row says something in a column.
  has(name) {
    return this.columns.get(name)?.some((text) => text !== "") ?? false;
  }

  distinct(name) {
    return [...new Set(this.columns.get(name) ?? [])];
  }

  // Rows by the values of one column.
  groupBy(name) {
    const groups = new Map();
    for (let row = 0; row < this.length; row += 1) {
      const key = this.text(name, row);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(row);
    }
    return groups;
  }

  // The row of a model with a value of the key, by an index that is made when first needed.
  find(model, value) {
    this.index ??= new Map(
      [...this.groupBy("model")].map(([name, rows]) => [
        name,
        new Map(rows.map((row) => [this.text(this.key, row), row])),
      ]),
    );
    return this.index.get(model)?.get(value);
  }
}

const entries = new Sheet(content.tables.entries);
const dimensions = new Sheet(content.tables.dimensions, "dimension");
const raw = new Sheet(content.tables.raw, "dataset");
const normalized = new Sheet(content.tables.normalized, "dataset");
const best = new Sheet(content.tables.best);
const submissions = new Sheet(content.tables.submissions);
const checkpoints = new Sheet(content.tables.checkpoints);
const runs = content.runs && new Sheet(content.runs);

const ALL = "All";
const SCORE = content.score;
const rows = Array.from({ length: entries.length }, (_, row) => row);
const byMethod = entries.groupBy("method");
const methods = [...byMethod.keys()];
const rowOf = new Map(rows.map((row) => [entries.text("model", row), row]));
const datasets = [...new Set([...normalized.distinct("dataset"), ...raw.distinct("dataset")])].sort(
  collator.compare,
);
const groups = new Map(content.groups);
const dimensionNames = dimensions.distinct("dimension").filter((name) => name !== ALL);

const showScore = (value) => (Number.isNaN(value) ? "" : value.toFixed(3));

const showRaw = (value) => {
  if (Number.isNaN(value)) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.0001 || size >= 1e7)) return value.toExponential(2);
  return size < 100 ? value.toFixed(4) : value.toFixed(1);
};

const showRange = (low, high, show = showScore) =>
  Number.isNaN(low) || Number.isNaN(high) ? "" : `${show(low)}–${show(high)}`;

// A name from an export: its direction of writing ends where it ends.
const showName = (name) => make("bdi", {}, name);

const areNumbers = (texts) => texts.every((text) => text === "" || Number.isFinite(Number(text)));
const isNumeric = (name) => areNumbers(entries.columns.get(name) ?? []);

// What a benchmark says of a dataset or a dimension, and which datasets a dimension has.
const describeGroup = (name) =>
  [content.descriptions.dimensions[name], (groups.get(name) ?? []).join(", ")].filter(Boolean).join("\n");
const describeDataset = (name) => content.descriptions.datasets[name] ?? "";

// What the reader chose, and the address that leads to it again.
const FACETS = Object.keys(content.facets);

const fresh = () => ({
  method: content.first,
  query: "",
  chosen: Object.fromEntries(FACETS.map((facet) => [facet, new Set()])),
  group: "",
  columns: null, // a set of ids, or null for the default ones
  sort: "",
  descending: false,
  raw: false,
  best: false,
  heat: true,
  intervals: false,
  open: "",
});

const SWITCHES = { raw: "raw", best: "best", intervals: "intervals" };
let state = fresh();

const writeAddress = () => {
  const words = new URLSearchParams();
  const first = fresh();
  if (state.method !== first.method) words.set("method", state.method);
  if (state.query) words.set("search", state.query);
  for (const facet of FACETS) {
    for (const value of [...state.chosen[facet]].sort()) words.append(facet, value);
  }
  if (state.group !== first.group) words.set("group", state.group);
  if (state.columns) {
    words.set("columns", "");
    for (const id of [...state.columns].sort()) words.append("column", id);
  }
  if (state.sort) words.set("sort", state.sort);
  if (state.descending) words.set("order", "descending");
  for (const [name, word] of Object.entries(SWITCHES)) if (state[name]) words.set(word, "1");
  if (!state.heat) words.set("heat", "0");
  if (state.open) words.set("open", state.open);
  return words.toString();
};

// Reads an address; what is unknown in it is left out.
const readAddress = () => {
  const words = new URLSearchParams(location.hash.slice(1));
  const found = fresh();
  if (methods.includes(words.get("method"))) found.method = words.get("method");
  found.query = words.get("search") ?? "";
  for (const facet of FACETS) {
    const known = new Set(entries.distinct(facet));
    found.chosen[facet] = new Set(words.getAll(facet).filter((value) => known.has(value)));
  }
  if (words.get("group") === "" || groups.has(words.get("group"))) found.group = words.get("group");
  if (words.has("columns")) found.columns = new Set(words.getAll("column"));
  if (columns.has(words.get("sort"))) found.sort = words.get("sort");
  found.descending = words.get("order") === "descending";
  for (const [name, word] of Object.entries(SWITCHES)) found[name] = words.get(word) === "1";
  found.heat = words.get("heat") !== "0";
  if (rowOf.has(words.get("open"))) found.open = words.get("open");
  return found;
};

// Changes the state and the address; typing replaces the address instead of adding one.
const change = (changes, { replace = false } = {}) => {
  state = { ...state, ...changes };
  const address = `#${writeAddress()}`;
  if (replace) history.replaceState(null, "", address);
  else if (address !== (location.hash || "#")) history.pushState(null, "", address);
  render();
};

const goBack = () => {
  state = readAddress();
  render();
};

// The columns that a table may have, by the ids that addresses use.
const STEPS = 8;
const PARTS = [SCORE, "ci_low", "ci_high"];

const describeCoverage = (sheet, row) =>
  `${sheet.text("datasets", row)} of ${sheet.text("expected", row)} datasets`;

const isComplete = (sheet, row) => sheet.text("complete", row) === "True";

// Missing datasets are marked where others have them.
const lacks = (sheet, row) =>
  !isComplete(sheet, row) &&
  listMethod().some((entry) => {
    const other = sheet === entries ? entry : find(sheet, entry, sheet.text(sheet.key, row));
    return other !== undefined && isComplete(sheet, other);
  });

// In words, and as short as a row of one line needs it.
const writeCoverage = (sheet, row) => {
  const short = `${sheet.text("datasets", row)}/${sheet.text("expected", row)}`;
  return [describeCoverage(sheet, row), state.intervals ? describeCoverage(sheet, row) : short];
};

// A score with its interval, taken from one table; `locate` finds the row of a model.
const readScore = (sheet, locate, partial) => (entry) => {
  const row = locate(entry);
  if (row === undefined) return null;
  return {
    value: sheet.number(SCORE, row),
    low: sheet.number("ci_low", row),
    high: sheet.number("ci_high", row),
    note: partial && lacks(sheet, row) ? describeCoverage(sheet, row) : "",
    texts: PARTS.map((name) => sheet.text(name, row)),
  };
};

const find = (sheet, entry, name) => sheet.find(entries.text("model", entry), name);

const makeScore = (id, label, group, sheet, locate, partial = false) => ({
  id,
  label,
  group,
  kind: "score",
  read: readScore(sheet, locate, partial),
  value: (entry) => sheet.number(SCORE, locate(entry)),
});

const makeDataset = (name) => {
  const locate = (entry) => find(raw, entry, name);
  const readRaw = (entry) => {
    const row = locate(entry);
    if (row === undefined) return null;
    const texts = ["mean", "sem"].map((column) => raw.text(column, row));
    return { value: raw.number("mean", row), sem: raw.number("sem", row), note: "", texts };
  };
  const locateNormalized = (entry) => find(normalized, entry, name);
  const score = makeScore(`dataset:${name}`, name, "Datasets", normalized, locateNormalized);
  return {
    ...score,
    about: describeDataset(name),
    read: (entry) => (state.raw ? readRaw(entry) : score.read(entry)),
    value: (entry) => (state.raw ? raw.number("mean", locate(entry)) : score.value(entry)),
    shade: score.value,
    heads: () =>
      (state.raw ? ["raw mean", "raw sem"] : PARTS).map((part) => `dataset ${name} ${part}`),
  };
};

const makeAbout = (name, label) => {
  const isNumber = isNumeric(name);
  const value = (entry) => entries[isNumber ? "number" : "text"](name, entry);
  return { id: `about:${name}`, label, group: "About the entries", kind: isNumber ? "number" : "text", name, value };
};

const makeDimension = (name) => {
  const locate = (entry) => find(dimensions, entry, name);
  return {
    ...makeScore(`dimension:${name}`, name, "Dimensions", dimensions, locate, true),
    about: describeGroup(name),
    heads: () => PARTS.map((part) => `dimension ${name} ${part}`),
  };
};

const listColumns = () => [
  { id: "rank", label: "Rank", kind: "rank", value: (entry) => shownRank(entry) },
  { id: "name", label: content.noun, kind: "name", value: (entry) => entries.text("name", entry) },
  makeScore("overall", dimensions.length ? "Overall" : "Score", "", entries, (entry) => entry),
  ...Object.entries(content.about)
    .filter(([name]) => entries.has(name) && rows.some((row) => entries.text(name, row) !== entries.text("name", row)))
    .map(([name, label]) => makeAbout(name, label)),
  ...dimensionNames.map(makeDimension),
  ...datasets.map(makeDataset),
];

const columns = new Map(listColumns().map((column) => [column.id, column]));
const ALWAYS = new Set(["rank", "name", "overall"]);
const FEW = 12;

const listDefaults = () => {
  const ids = content.shown.map((name) => `about:${name}`);
  if (entries.distinct("submission").length > 1) ids.push("about:submission");
  const names = state.group ? groups.get(state.group) : datasets;
  const wide = names.map((name) => `dataset:${name}`);
  if (state.group || state.raw) ids.push(`dimension:${state.group}`, ...wide);
  else if (dimensionNames.length) ids.push(...dimensionNames.map((name) => `dimension:${name}`));
  else if (wide.length <= FEW) ids.push(...wide);
  return new Set(ids.filter((id) => columns.has(id)));
};

const listShown = () => {
  const chosen = state.columns ?? listDefaults();
  return [...columns.values()].filter(({ id }) => ALWAYS.has(id) || chosen.has(id));
};

// The range of a score over all models of the method, whatever the filters.
const ranges = new Map();
const findRange = (column) => {
  const key = `${state.method} ${column.id}`;
  if (!ranges.has(key)) {
    const values = listMethod().map(column.shade ?? column.value);
    const known = values.filter((value) => !Number.isNaN(value));
    ranges.set(key, [Math.min(...known), Math.max(...known)]);
  }
  return ranges.get(key);
};

const findStep = (column, entry) => {
  const [low, high] = findRange(column);
  const value = (column.shade ?? column.value)(entry);
  if (Number.isNaN(value) || !(high > low)) return "";
  const share = (isLowerBetter() ? high - value : value - low) / (high - low);
  return `h${Math.min(STEPS - 1, Math.floor(STEPS * share))}`;
};

// Which entries are shown, in which order, and their ranks.
const keyOf = (sheet, row) =>
  JSON.stringify(["method", "backbone", "submission"].map((name) => sheet.text(name, row)));

const bestKeys = new Set(Array.from({ length: best.length }, (_, row) => keyOf(best, row)));

const words = new Map(
  rows.map((row) => [
    row,
    ["name", "model", "backbone", "size", "submission"]
      .map((name) => entries.text(name, row))
      .join("\n")
      .toLowerCase(),
  ]),
);

const listMethod = () => byMethod.get(state.method) ?? [];

// The first of a ranking by an error has the lowest score.
const isLowerBetter = () => {
  const ranked = listMethod().filter((row) => entries.text("rank", row) !== "");
  const score = (row) => entries.number(SCORE, row);
  const [first] = ranked.filter((row) => entries.text("rank", row) === "1");
  return ranked.some((row) => score(row) > score(first));
};

const select = () => {
  const query = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  return listMethod().filter(
    (row) =>
      FACETS.every(
        (facet) => !state.chosen[facet].size || state.chosen[facet].has(entries.text(facet, row)),
      ) &&
      (!state.best || bestKeys.has(keyOf(entries, row))) &&
      query.every((word) => words.get(row).includes(word)),
  );
};

// Where an entry is ranked: on all datasets, or in the chosen group of datasets.
const locateRank = (entry) =>
  dimensionNames.includes(state.group)
    ? [dimensions, find(dimensions, entry, state.group)]
    : [entries, entry];

const readRank = (entry, name = "rank") => {
  const [sheet, row] = locateRank(entry);
  return row === undefined ? "" : sheet.text(name, row);
};

const shownRank = (entry) => (readRank(entry) === "" ? NaN : Number(readRank(entry)));

// By rank, then the others by their score.
const sortByRank = (selection) => {
  const sign = isLowerBetter() ? 1 : -1;
  const keyed = selection.map((entry) => {
    const [sheet, row] = locateRank(entry);
    const score = row === undefined ? NaN : sign * sheet.number(SCORE, row);
    return [entry, Number.isNaN(shownRank(entry)) ? Infinity : shownRank(entry), Number.isNaN(score) ? Infinity : score];
  });
  keyed.sort(([, one, a], [, other, b]) => (one === other ? (a === b ? 0 : a - b) : one - other));
  return keyed.map(([entry]) => entry);
};

const isMissing = (value) => value === "" || Number.isNaN(value);

const sortEntries = (selection) => {
  if (!state.sort) return sortByRank(selection);
  const column = columns.get(state.sort);
  const sign = state.descending ? -1 : 1;
  const keyed = selection.map((entry) => [entry, column.value(entry)]);
  keyed.sort(([, one], [, other]) => {
    if (isMissing(one) || isMissing(other)) return isMissing(one) - isMissing(other);
    return sign * (typeof one === "number" ? one - other : collator.compare(one, other));
  });
  return keyed.map(([entry]) => entry);
};

// Draws the table: the first rows at once, the others in small steps.
const FIRST = 12;
const STEP = 40;
const table = make("table", { id: "board" });
const drawn = new Map();
let layout = "";
let pending = [];
let round = 0;

const drawInterval = (score, [low, high]) => {
  const bar = make("span", { className: "bar", ariaHidden: "true" });
  const [from, to] = [score.low, score.high].map((value) => (100 * (value - low)) / (high - low));
  if (!(high > low) || Number.isNaN(from + to)) return bar;
  const inner = make("span");
  inner.style.left = `${from}%`;
  inner.style.width = `${Math.max(1.5, to - from)}%`;
  bar.append(inner);
  return bar;
};

const findSpan = () => {
  const list = (name) =>
    listMethod().map((entry) => entries.number(name, entry)).filter((value) => !Number.isNaN(value));
  return [Math.min(...list("ci_low")), Math.max(...list("ci_high"))];
};

const drawRank = (entry) => {
  const rank = shownRank(entry);
  const cell = make("td", { className: "rank" });
  if (Number.isNaN(rank)) cell.append(make("span", { className: "unranked" }, "not ranked"));
  else cell.append(make("b", {}, String(rank)));
  if (readRank(entry, "rank_low")) {
    const [low, high] = ["rank_low", "rank_high"].map((name) => readRank(entry, name));
    cell.append(make("small", {}, `${low}–${high}`));
  }
  return cell;
};

const drawName = (entry) => {
  const name = entries.text("name", entry);
  const button = make("button", { type: "button", className: "open", title: name }, showName(name));
  button.dataset.entry = entry;
  button.ariaHasPopup = "dialog";
  const cell = make("th", { scope: "row", className: "name" }, button);
  if (lacks(entries, entry)) {
    const [title, short] = writeCoverage(entries, entry);
    cell.append(make("span", { className: "badge", title }, short));
  }
  return cell;
};

// One text of several lines: a table of 25 000 scores has no elements to spare.
const drawScore = (column, entry, span) => {
  const score = column.read(entry);
  const cell = make("td", { className: `score ${findStep(column, entry)}` });
  if (!score || Number.isNaN(score.value)) return cell;
  const isRaw = "sem" in score;
  const value = isRaw ? showRaw(score.value) : showScore(score.value);
  const sem = isRaw && !Number.isNaN(score.sem) ? `± ${showRaw(score.sem)}` : "";
  const range = isRaw ? sem : showRange(score.low, score.high);
  const isOverall = column.id === "overall";
  if (!state.intervals) {
    cell.textContent = isOverall && range ? `${value} (${range})` : value;
    cell.title = [range, score.note].filter(Boolean).join(", ");
    if (score.note) cell.append(make("small", { className: "partial" }, "*"));
    return cell;
  }
  cell.textContent = value + (range && `\n${range}`);
  if (isOverall && range) cell.append(drawInterval(score, span));
  if (score.note) cell.append(make("small", { className: "partial" }, score.note));
  return cell;
};

const drawCell = (column, entry, span) => {
  if (column.kind === "rank") return drawRank(entry);
  if (column.kind === "name") return drawName(entry);
  if (column.kind === "score") return drawScore(column, entry, span);
  const value = column.value(entry);
  if (column.kind === "number") {
    const text = Number.isInteger(value) ? String(value) : showScore(value);
    return make("td", { className: "number" }, text);
  }
  return make("td", { className: "text", title: value }, showName(value));
};

const nameRank = () => (dimensionNames.includes(state.group) ? `Rank in ${state.group}` : "Rank");

const drawHead = (shown) => {
  const row = make("tr");
  for (const column of shown) {
    const label = column.kind === "rank" ? nameRank() : column.label;
    const title = column.about ? `${label}: ${column.about}` : label;
    const button = make("button", { type: "button", title }, showName(label));
    button.dataset.column = column.id;
    const head = make("th", { scope: "col", className: column.kind }, button);
    if (state.sort === column.id) head.ariaSort = state.descending ? "descending" : "ascending";
    row.append(head);
  }
  return row;
};

const drawColumns = (shown) =>
  make("colgroup", {}, ...shown.map(({ kind, id }) => {
    const kinds = { "about:size": "short", "about:tie_group": "short", overall: entries.has("ci_low") ? "wide" : "score" };
    return make("col", { className: `col-${kinds[id] ?? kind}` });
  }));

const finish = () => {
  round += 1;
  table.tBodies[0].append(...pending.splice(0).map((draw) => draw()));
  table.ariaBusy = "false";
};

const drawMore = () => {
  if (pending.length <= STEP) return finish();
  table.tBodies[0].append(...pending.splice(0, STEP).map((draw) => draw()));
  return drawLater();
};

// After the next frame, unless the table is drawn anew or finished before.
const drawLater = () => {
  round += 1;
  const mine = round;
  requestAnimationFrame(() => setTimeout(() => mine === round && drawMore()));
};

const drawTable = (order) => {
  const shown = listShown();
  const ids = shown.map(({ id }) => id);
  const span = findSpan();
  const next = JSON.stringify([ids, state.method, state.group, state.raw, state.intervals]);
  if (next !== layout) drawn.clear();
  layout = next;
  const draw = (entry) => () => {
    if (!drawn.has(entry)) {
      drawn.set(entry, make("tr", {}, ...shown.map((column) => drawCell(column, entry, span))));
    }
    return drawn.get(entry);
  };
  const active = table.contains(document.activeElement) && document.activeElement.dataset;
  table.className = `${state.heat ? "heat" : ""} ${state.intervals ? "" : "compact"}`;
  table.ariaRowCount = order.length + 1;
  table.querySelector("colgroup").replaceWith(drawColumns(shown));
  table.tHead.replaceChildren(drawHead(shown));
  pending = order.map(draw);
  table.ariaBusy = "true";
  table.tBodies[0].replaceChildren(...pending.splice(0, FIRST).map((make) => make()));
  if (pending.length) drawLater();
  else finish();
  if (active) restoreFocus(active);
};

// A redrawn heading or row keeps the focus that it had.
const restoreFocus = ({ column, entry }) => {
  const buttons = [...table.querySelectorAll("button")];
  const same = ({ dataset }) =>
    column === undefined ? dataset.entry === entry : dataset.column === column;
  buttons.find(same)?.focus({ preventScroll: true });
};

// The controls above the table.
const byId = (id) => document.getElementById(id);
const BOXES = ["best", "intervals", "heat", "raw"];
const TITLES = content.facets;

const fillSelect = (select, options) => {
  select.replaceChildren(...options.map(([value, label]) => make("option", { value }, label)));
};

// A folded list of check boxes, filled when it is opened first.
const makeFolded = (title, list) => {
  const summary = make("summary", {}, title);
  const panel = make("div", { className: "panel" });
  const folded = make("details", { className: "facet" }, summary, panel);
  folded.addEventListener("toggle", () => {
    if (!folded.open) return;
    document.querySelectorAll("details.facet[open]").forEach((other) => {
      if (other !== folded) other.open = false;
    });
    list(panel);
  });
  folded.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !folded.open) return;
    folded.open = false;
    summary.focus();
  });
  return folded;
};

const makeBox = (value, label, checked, act) => {
  const box = make("input", { type: "checkbox", value, checked });
  box.addEventListener("change", () => act(box.checked));
  return make("label", { className: "switch" }, box, " ", showName(label));
};

const makeFieldset = (title, boxes, words, all) => {
  const legend = make("legend", {}, title);
  const buttons = words.map(([word, on]) => {
    const button = make("button", { type: "button", ariaLabel: `${word}: ${title}` }, word);
    button.addEventListener("click", () => {
      boxes.forEach((label) => (label.control.checked = on));
      all(on);
    });
    return button;
  });
  return make("fieldset", {}, legend, make("div", { className: "pair" }, ...buttons), ...boxes);
};

const makeFacet = (facet) =>
  makeFolded(TITLES[facet], (panel) => {
    const values = entries.distinct(facet).sort(collator.compare);
    const boxes = values.map((value) =>
      makeBox(value, value || "not given", state.chosen[facet].has(value), (on) => {
        const chosen = new Set(state.chosen[facet]);
        if (on) chosen.add(value);
        else chosen.delete(value);
        change({ chosen: { ...state.chosen, [facet]: chosen } });
      }),
    );
    const clear = () => change({ chosen: { ...state.chosen, [facet]: new Set() } });
    panel.replaceChildren(makeFieldset(TITLES[facet], boxes, [["Clear", false]], clear));
  });

const choose = (ids, on) => {
  const chosen = new Set(state.columns ?? listDefaults());
  for (const id of ids) {
    if (on) chosen.add(id);
    else chosen.delete(id);
  }
  change({ columns: chosen });
};

const picker = makeFolded("Columns", (panel) => {
  const chosen = state.columns ?? listDefaults();
  const offered = [...columns.values()].filter(({ id }) => !ALWAYS.has(id));
  const titles = [...new Set(offered.map(({ group }) => group))];
  const fieldsets = titles.map((title) => {
    const inside = offered.filter(({ group }) => group === title);
    const boxes = inside.map(({ id, label }) =>
      makeBox(id, label, chosen.has(id), (on) => choose([id], on)),
    );
    const words = [["All", true], ["None", false]];
    return makeFieldset(title, boxes, words, (on) => choose(inside.map(({ id }) => id), on));
  });
  panel.replaceChildren(...fieldsets);
});

const facets = new Map(
  FACETS.filter((facet) => entries.has(facet)).map((facet) => [facet, makeFacet(facet)]),
);

const wireControls = () => {
  const offered = methods.map((method, place) => [String(place), method || "not given"]);
  fillSelect(byId("method"), offered);
  byId("method-field").hidden = methods.length < 2;
  byId("method").addEventListener("change", ({ target }) => change({ method: methods[Number(target.value)] }));
  byId("raw-field").hidden = raw.length === 0;
  byId("intervals-field").hidden = !entries.has("ci_low");
  const names = [...groups.keys()];
  fillSelect(byId("group"), [["", "All datasets"], ...names.map((name, i) => [String(i), name])]);
  byId("group-field").hidden = names.length === 0;
  byId("group").addEventListener("change", ({ target }) => {
    change({ group: target.value === "" ? "" : names[Number(target.value)], columns: null });
  });
  byId("search").addEventListener("input", ({ target }) =>
    change({ query: target.value }, { replace: true }),
  );
  for (const name of BOXES) {
    byId(name).addEventListener("change", ({ target }) => change({ [name]: target.checked }));
  }
  const ranked = rows.filter((row) => isComplete(entries, row));
  byId("best-field").hidden = best.length === 0 || best.length >= ranked.length;
  byId("facets").append(...facets.values(), picker);
  byId("reset").addEventListener("click", () => change(fresh()));
  document.addEventListener("click", ({ target }) => {
    document.querySelectorAll("details.facet[open]").forEach((folded) => {
      if (!folded.contains(target)) folded.open = false;
    });
  });
};

// Sets the controls to the state, as after going back.
const showControls = () => {
  byId("method").value = String(methods.indexOf(state.method));
  byId("group").title = state.group ? describeGroup(state.group) : "";
  byId("group").value = state.group ? String([...groups.keys()].indexOf(state.group)) : "";
  if (byId("search").value !== state.query) byId("search").value = state.query;
  for (const name of BOXES) byId(name).checked = state[name];
  for (const [facet, folded] of facets) {
    const { size } = state.chosen[facet];
    folded.firstChild.textContent = size ? `${TITLES[facet]} (${size})` : TITLES[facet];
  }
};

// What is known about one model.
const dialog = document.getElementById("model");
const LABELS = new Map([
  ["experiment_name", "experiment"],
  ["data_percentages", "share of the data"],
  ["partition_name", "partition"],
  ["batch_size", "batch size"],
  ["lr", "learning rate"],
  ["weight_decay", "weight decay"],
  ["n_trials", "trials"],
  ["early_stop_patience", "patience"],
  ["batch_size_selection", "choice of batch size"],
]);
// Said above the runs already, or by the table itself.
const KNOWN = new Set(["model", "dataset", "seed", "score", "submission", "backbone", "method"]);
const TERMS = [
  ["paper", "Paper"],
  ["code", "Code"],
  ["license", "License"],
  ["hpo_trials", "Trials of the parameter search"],
  ["models", "Models"],
  ["information", "About the submission"],
  ["comments", "About its models"],
];

const makeTable = (caption, heads, lines) => {
  const row = make("tr", {}, ...heads.map(([label, kind]) =>
    make("th", { scope: "col", className: kind }, showName(label))));
  const body = lines.map((cells) =>
    make("tr", {}, ...cells.map((text, place) =>
      place === 0
        ? make("th", { scope: "row", className: "text" }, showName(text))
        : make("td", { className: heads[place][1] }, showName(text)))));
  const box = make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: caption });
  box.append(make("table", {}, make("caption", {}, caption),
    make("thead", {}, row), make("tbody", {}, ...body)));
  return box;
};

const makeList = (pairs) =>
  make("dl", {}, ...pairs.flatMap(([term, value]) => [
    make("dt", {}, showName(term)),
    make("dd", {}, value),
  ]));

// Only addresses on the web become links.
const showLink = (text) => {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return showName(text);
  return make("a", { href: text, rel: "noopener noreferrer", target: "_blank" }, text);
};

const describe = (entry) => {
  const read = (name) => entries.text(name, entry);
  const rank = read("rank")
    ? `${read("rank")}${read("rank_low") && ` (${read("rank_low")}–${read("rank_high")})`}`
    : "not ranked, as datasets or values are missing";
  const score = columns.get("overall").read(entry);
  const range = showRange(score.low, score.high);
  return [
    [methods.length > 1 ? `Rank with ${read("method")}` : "Rank", rank],
    ["Tie group", read("tie_group")],
    ["Overall", showScore(score.value) + (range && ` (${range})`)],
    ["Datasets", read("expected") && `${read("datasets")} of ${read("expected")}`],
    ["Runs", read("runs")],
    [content.switch, read("method")],
    ...Object.entries(content.about)
      .filter(([name]) => !["runs", "tie_group"].includes(name) && read(name) !== read("name"))
      .map(([name, label]) => [label, isNumeric(name) && read(name) ? showRaw(Number(read(name))) : read(name)]),
  ].filter(([, text]) => text !== "");
};

const listDimensions = (model) =>
  dimensions.distinct("dimension").flatMap((name) => {
    const row = dimensions.find(model, name);
    if (row === undefined) return [];
    const read = (column) => dimensions.text(column, row);
    const ranks = read("rank_low") ? `${read("rank_low")}–${read("rank_high")}` : "";
    const number = (column) => dimensions.number(column, row);
    return [[
      name,
      showScore(number(SCORE)),
      showRange(number("ci_low"), number("ci_high")),
      read("rank") || "not ranked",
      ranks,
      `${read("datasets")} of ${read("expected")}`,
    ]];
  });

const listDatasets = (model) =>
  datasets
    .map((name) => [name, raw.find(model, name), normalized.find(model, name)])
    .filter(([, one, other]) => one !== undefined || other !== undefined)
    .map(([name, one, other]) => {
      const sem = showRaw(raw.number("sem", one));
      const number = (column) => normalized.number(column, other);
      return [
        name,
        raw.text("metric", one),
        raw.text("seeds", one) || normalized.text("seeds", other),
        showRaw(raw.number("mean", one)) + (sem && ` ± ${sem}`),
        showScore(number(SCORE)),
        showRange(number("ci_low"), number("ci_high")),
        normalized.text("rank", other),
      ];
    });

// Every run: what all of them share once, the rest as a table.
let runsOf = null;
const showRuns = (model) => {
  if (!runs) {
    const reason = "The single runs are left out to keep this page small";
    return [make("p", {}, `${reason}; they are in the study's runs.parquet.`)];
  }
  runsOf ??= runs.groupBy("model");
  const lines = runsOf.get(model) ?? [];
  const first = ["dataset", "seed", "score"];
  const others = runs.names.filter((name) => !KNOWN.has(name));
  const shared = others.filter((name) => new Set(lines.map((row) => runs.text(name, row))).size === 1);
  const heads = [...first, ...others.filter((name) => !shared.includes(name))];
  const named = heads.map((name) => {
    const numbers = name !== "dataset" && areNumbers(lines.map((row) => runs.text(name, row)));
    return [LABELS.get(name) ?? name, numbers ? "number" : "text"];
  });
  const pairs = shared.map((name) => [LABELS.get(name) ?? name, runs.text(name, lines[0])]);
  return [
    makeList(pairs.filter(([, text]) => text !== "").map(([name, text]) => [name, showName(text)])),
    makeTable("Every run", named, lines.map((row) => heads.map((name) => runs.text(name, row)))),
  ];
};

const showSubmission = (entry) => {
  const name = entries.text("submission", entry);
  const row = submissions.groupBy("submission").get(name)?.[0];
  if (!name || row === undefined) return [];
  const pairs = TERMS.map(([column, term]) => [term, submissions.text(column, row)]);
  const known = pairs.filter(([, text]) => text !== "");
  if (!known.length) return [];
  return [make("h3", {}, "Submission"), makeList(known.map(([term, text]) => [term, showLink(text)]))];
};

const listCheckpoints = (entry) =>
  (checkpoints.groupBy("training").get(entries.text("training", entry)) ?? [])
    .filter((row) => checkpoints.text("model", row) === entries.text("backbone", entry))
    .map((row) => [
      checkpoints.text("checkpoint", row),
      checkpoints.text("step", row),
      showRaw(checkpoints.number("selection", row)),
      checkpoints.text("chosen", row) === "True" ? "yes" : "",
    ]);

const showTable = (caption, heads, lines) => (lines.length ? [makeTable(caption, heads, lines)] : []);

const fillDialog = (entry) => {
  const model = entries.text("model", entry);
  const title = make("h2", { id: "model-title", tabIndex: -1 }, showName(entries.text("name", entry)));
  const close = make("button", { type: "button", className: "close" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const level = `${content.confidence}% interval`;
  const steps = [["Checkpoint", "text"], ["Step", "number"], ["Value by which it is chosen", "number"], ["Chosen", "text"]];
  const parts = [["Dimension", "text"], ["Score", "number"], [level, "number"], ["Rank", "number"],
    ["Rank interval", "number"], ["Datasets", "number"]];
  const cells = [["Dataset", "text"], ["Metric", "text"], ["Seeds", "number"],
    ["Raw mean ± SEM", "number"], ["Normalized", "number"], [level, "number"], ["Rank", "number"]];
  const provenance = make("details", {}, make("summary", {}, "Every seed, and where it comes from"));
  provenance.addEventListener("toggle", () => provenance.append(...showRuns(model)), { once: true });
  dialog.replaceChildren(
    make("header", {}, title, close),
    makeList(describe(entry).map(([term, text]) => [term, showName(text)])),
    ...showTable("Dimensions", parts, listDimensions(model)),
    ...showTable("Datasets", cells, listDatasets(model)),
    ...showTable("Checkpoints", steps, listCheckpoints(entry)),
    ...(content.runs === undefined ? [] : [provenance]),
    ...showSubmission(entry),
  );
};

const showDialog = () => {
  const entry = rowOf.get(state.open);
  if (entry === undefined) return dialog.close();
  if (dialog.open && dialog.dataset.entry === String(entry)) return undefined;
  dialog.dataset.entry = entry;
  fillDialog(entry);
  if (!dialog.open) dialog.showModal();
  byId("model-title").focus();
  return undefined;
};

dialog.addEventListener("close", () => {
  const { entry } = dialog.dataset;
  if (state.open) change({ open: "" });
  restoreFocus({ entry });
});
dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());

// The view as a file: RFC 4180 with the line ends and all the digits of the study's tables.
const writeCsv = (order) => {
  const scores = listShown().filter(({ heads }) => heads);
  const heads = [...entries.names, ...scores.flatMap(({ heads }) => heads())];
  const lines = order.map((entry) => {
    const cells = entries.names.map((name) => quote(entries.text(name, entry), isNumeric(name)));
    for (const { heads, read } of scores) {
      cells.push(...(read(entry)?.texts ?? heads().map(() => "")));
    }
    return cells.join(",");
  });
  return [heads.map((head) => quote(head)).join(","), ...lines, ""].join("\n");
};

// Puts the state on the page.
let order = [];

const describeOrder = () => {
  const column = columns.get(state.sort);
  if (!column) return "";
  return `, sorted by ${column.label}, ${state.descending ? "descending" : "ascending"}`;
};

// Who leads, on how many datasets, and from whom that is not separated.
const NAMED = 5;
const listNames = (shown) => {
  const more = shown.length > NAMED ? [`${shown.length - NAMED} more`] : [];
  const parts = [...shown.slice(0, more.length ? NAMED : undefined).map(nameEntry), ...more];
  return parts.flatMap((part, place) => [place === 0 ? "" : place === parts.length - 1 ? " and " : ", ", part]);
};

const nameEntry = (entry) => {
  const name = entries.text("name", entry);
  const isOne = listMethod().filter((row) => entries.text("name", row) === name).length === 1;
  return showName(isOne ? name : `${name} (${entries.text("submission", entry) || entries.text("model", entry)})`);
};

const writeLead = () => {
  const ranked = sortByRank(listMethod().filter((entry) => readRank(entry) !== ""));
  const firsts = ranked.filter((entry) => readRank(entry) === "1");
  if (!firsts.length) return ["No entry is ranked here."];
  const [sheet, row] = locateRank(firsts[0]);
  const count = Number(sheet.text("expected", row));
  const on = count ? ` on ${count} ${count === 1 ? "dataset" : "datasets"}` : "";
  const range = showRange(sheet.number("ci_low", row), sheet.number("ci_high", row));
  const score = `${content.statistic} ${showScore(sheet.number(SCORE, row))}${range && ` (${content.confidence}% interval ${range})`}`;
  const method = methods.length > 1 ? [` ${content.within} `, showName(state.method)] : [];
  const [leads, it] = firsts.length === 1 ? ["leads", "it"] : ["share the lead of", "them"];
  const said = [...listNames(firsts), ` ${leads} ${ranked.length} ranked entries`, ...method, `${on}, ${score}.`];
  const letters = firsts.map((entry) => readRank(entry, "tie_group"));
  if (!letters.some(Boolean)) return [...said, " These ranks come without intervals."];
  const rivals = ranked.filter((entry) => {
    const own = [...readRank(entry, "tie_group")];
    return !firsts.includes(entry) && own.some((letter) => letters.some((other) => other.includes(letter)));
  });
  if (rivals.length) return [...said, ` Not significantly different from ${it}: `, ...listNames(rivals), "."];
  return ranked.length > firsts.length ? [...said, ` All others are significantly worse than ${it}.`] : said;
};

const render = () => {
  order = sortEntries(select());
  drawTable(order);
  showControls();
  byId("lead").replaceChildren(...writeLead());
  byId("status").textContent = `${order.length} of ${listMethod().length} entries${describeOrder()}`;
  showDialog();
};

const sortBy = (id) => {
  const { kind } = columns.get(id);
  const first = kind === "number" || (kind === "score" && !isLowerBetter());
  if (state.sort !== id) change({ sort: id, descending: first });
  else if (state.descending === first) change({ descending: !first });
  else change({ sort: "", descending: false });
};

const wireTable = () => {
  table.append(
    make("caption", { className: "hidden", id: "heading" }, `Leaderboard of ${content.study}`),
    make("colgroup"), make("thead"), make("tbody"),
  );
  byId("main").append(table);
  table.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button?.dataset.column !== undefined) sortBy(button.dataset.column);
    else if (button) change({ open: entries.text("model", Number(button.dataset.entry)) });
  });
};

const listDescribed = () => [
  ...dimensionNames.map((name) => [name, describeGroup(name)]),
  ...datasets.map((name) => [name, describeDataset(name)]),
].filter(([, text]) => text);

const writeDescriptions = () => {
  const described = listDescribed();
  byId("described").hidden = !described.length;
  byId("described").append(makeList(described));
};

writeDescriptions();
wireTable();
wireControls();
byId("tools").hidden = false;
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
byId("download").addEventListener("click", () => save(`${content.study}-leaderboard.csv`, writeCsv(order)));
addEventListener("popstate", goBack);
addEventListener("beforeprint", finish);
goBack();
