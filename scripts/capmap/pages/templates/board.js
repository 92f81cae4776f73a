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
const runs = content.runs && new Sheet(content.runs);

const ALL = "All";
const SCORE = content.statistic.column;
const lowerIsBetter = content.statistic.best === "lowest";
const rows = Array.from({ length: entries.length }, (_, row) => row);
const methods = entries.distinct("method");
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

// What the reader chose, and the address that leads to it again.
const FACETS = ["name", "size", "submission"];

const fresh = () => ({
  method: methods[0] ?? "",
  everyMethod: methods.length > 1,
  query: "",
  chosen: { name: new Set(), size: new Set(), submission: new Set() },
  group: "",
  columns: null, // a set of ids, or null for the default ones
  sort: "",
  descending: false,
  raw: false,
  best: false,
  rerank: false,
  heat: true,
  intervals: false,
  open: "",
  beside: "", // what the open model is compared with
});

const SWITCHES = { raw: "raw", best: "best", rerank: "rerank", intervals: "intervals" };
let state = fresh();

const writeAddress = () => {
  const words = new URLSearchParams();
  const first = fresh();
  if (state.everyMethod) {
    if (!first.everyMethod) words.set("all", "1");
  } else if (first.everyMethod || state.method !== first.method) words.set("method", state.method);
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
  if (state.open && state.beside) words.set("beside", state.beside);
  return words.toString();
};

// Reads an address; what is unknown in it is left out.
const readAddress = () => {
  const words = new URLSearchParams(location.hash.slice(1));
  const found = fresh();
  if (words.get("all") === "1") found.everyMethod = methods.length > 1;
  if (methods.includes(words.get("method"))) {
    Object.assign(found, { method: words.get("method"), everyMethod: false });
  }
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
  for (const name of ["open", "beside"]) if (rowOf.has(words.get(name))) found[name] = words.get(name);
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

// In words, and as short as a row of one line needs it.
const writeCoverage = (sheet, row) => {
  const short = `${sheet.text("datasets", row)}/${sheet.text("expected", row)}`;
  return [describeCoverage(sheet, row), state.intervals ? describeCoverage(sheet, row) : short];
};

const isComplete = (sheet, row) => sheet.text("complete", row) === "True";

// A score with its interval, taken from one table; `locate` finds the row of a model.
const readScore = (sheet, locate, partial) => (entry) => {
  const row = locate(entry);
  if (row === undefined) return null;
  return {
    value: sheet.number(SCORE, row),
    low: sheet.number("ci_low", row),
    high: sheet.number("ci_high", row),
    note: partial && !isComplete(sheet, row) ? describeCoverage(sheet, row) : "",
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
    readNormalized: score.read,
    read: (entry) => (state.raw ? readRaw(entry) : score.read(entry)),
    value: (entry) => (state.raw ? raw.number("mean", locate(entry)) : score.value(entry)),
    shade: score.value,
    heads: () =>
      (state.raw ? ["raw mean", "raw sem"] : PARTS).map((part) => `dataset ${name} ${part}`),
  };
};

const makeText = (name, label) => ({
  id: `about:${name}`,
  label,
  group: "About the models",
  kind: "text",
  value: (entry) => entries.text(name, entry),
});

const makeDimension = (name) => {
  const locate = (entry) => find(dimensions, entry, name);
  return {
    ...makeScore(`dimension:${name}`, name, "Dimensions", dimensions, locate, true),
    heads: () => PARTS.map((part) => `dimension ${name} ${part}`),
  };
};

const showsBackbone = rows.some((row) => entries.text("backbone", row) !== entries.text("name", row));

const listColumns = () => {
  const about = [
    ["method", "Method", methods.length > 1],
    ["backbone", "Backbone", showsBackbone],
    ["size", "Size", entries.has("size")],
    ["submission", "Submission", entries.has("submission")],
    ["tie_group", "Tie group", entries.has("tie_group")],
    ["runs", "Runs", true],
    ["mean", "Mean", entries.has("mean")],
  ];
  const numbers = new Set(["runs", "mean"]);
  return [
    { id: "rank", label: "Rank", kind: "rank", value: (entry) => shownRank(entry) },
    { id: "name", label: "Model", kind: "name", value: (entry) => entries.text("name", entry) },
    makeScore("overall", "Overall", "", entries, (entry) => entry),
    ...about.filter(([, , offered]) => offered).map(([name, label]) => ({
      ...makeText(name, label),
      ...(numbers.has(name) && { kind: "number", value: (entry) => entries.number(name, entry) }),
    })),
    ...dimensionNames.map(makeDimension),
    ...datasets.map(makeDataset),
  ];
};

const columns = new Map(listColumns().map((column) => [column.id, column]));
const ALWAYS = new Set(["rank", "name", "overall"]);
const FEW = 12;

const listDefaults = () => {
  const ids = ["about:size", "about:tie_group"];
  if (entries.distinct("submission").length > 1) ids.push("about:submission");
  if (state.everyMethod) ids.push("about:method");
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
  const key = `${state.everyMethod ? "*" : `=${state.method}`} ${column.id}`;
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
  const share = (lowerIsBetter ? high - value : value - low) / (high - low);
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

const listMethod = () =>
  state.everyMethod ? rows : rows.filter((row) => entries.text("method", row) === state.method);

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

// Ranks within the selection, by the overall score or by that of the chosen dataset group.
let fleeting = null;

const rankAgain = (selection) => {
  const column = columns.get(`dimension:${state.group}`);
  const sheet = column ? dimensions : entries;
  const locate = (entry) => (column ? find(dimensions, entry, state.group) : entry);
  const scores = selection
    .filter((entry) => locate(entry) !== undefined && isComplete(sheet, locate(entry)))
    .map((entry) => [entry, sheet.number(SCORE, locate(entry))])
    .filter(([, score]) => !Number.isNaN(score))
    .sort(([, one], [, other]) => (lowerIsBetter ? one - other : other - one));
  const ranks = new Map();
  scores.forEach(([entry, score], place) => {
    const tied = place > 0 && scores[place - 1][1] === score;
    ranks.set(entry, tied ? ranks.get(scores[place - 1][0]) : place + 1);
  });
  return ranks;
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

const shownRank = (entry) => {
  if (fleeting) return fleeting.get(entry) ?? NaN;
  return readRank(entry) === "" ? NaN : Number(readRank(entry));
};

// Ranked entries first, all by their score.
const sortByScore = (selection) => {
  const keyed = selection.map((entry) => {
    const [sheet, row] = locateRank(entry);
    const score = row === undefined ? NaN : sheet.number(SCORE, row);
    return [entry, readRank(entry) === "", lowerIsBetter ? score : -score];
  });
  keyed.sort(([, one, a], [, other, b]) => {
    if (one !== other) return one - other;
    return Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : a - b;
  });
  return keyed.map(([entry]) => entry);
};

const isMissing = (value) => value === "" || Number.isNaN(value);

const sortEntries = (selection) => {
  const id = state.sort || (fleeting ? "rank" : "");
  if (!id) return sortByScore(selection);
  const column = columns.get(id);
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
  const published = readRank(entry);
  if (Number.isNaN(rank)) cell.append(make("span", { className: "unranked" }, "not ranked"));
  else cell.append(make("b", {}, String(rank)));
  if (fleeting) {
    cell.append(make("small", {}, published ? `was ${published}` : "was not ranked"));
  } else if (readRank(entry, "rank_low")) {
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
  if (!isComplete(entries, entry)) {
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
    const text = column.id === "about:mean" ? showScore(value) : entries.text("runs", entry);
    return make("td", { className: "number" }, text);
  }
  return make("td", { className: "text", title: value }, showName(value));
};

const nameRank = () => {
  if (fleeting) return "Rank in selection";
  return dimensionNames.includes(state.group) ? `Rank in ${state.group}` : "Rank";
};

const drawHead = (shown) => {
  const row = make("tr");
  for (const column of shown) {
    const label = column.kind === "rank" ? nameRank() : column.label;
    const button = make("button", { type: "button", title: label }, showName(label));
    button.dataset.column = column.id;
    const head = make("th", { scope: "col", className: column.kind }, button);
    if (state.sort === column.id) head.ariaSort = state.descending ? "descending" : "ascending";
    row.append(head);
  }
  return row;
};

const drawColumns = (shown) =>
  make("colgroup", {}, ...shown.map(({ kind, id }) => {
    const kinds = { "about:size": "short", "about:tie_group": "short", overall: "wide" };
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
  const next = JSON.stringify([ids, state.method, state.everyMethod, state.group, state.raw, state.intervals, [...(fleeting ?? [])]]);
  if (next !== layout) drawn.clear();
  layout = next;
  const draw = (entry) => () => {
    if (!drawn.has(entry)) {
      drawn.set(entry, make("tr", {}, ...shown.map((column) => drawCell(column, entry, span))));
    }
    return drawn.get(entry);
  };
  const active = table.contains(document.activeElement) && document.activeElement.dataset;
  table.className = `${state.heat ? "heat" : ""} ${fleeting ? "again" : ""} ${state.intervals ? "" : "compact"}`;
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
const BOXES = ["best", "rerank", "intervals", "heat", "raw"];
const TITLES = { name: "Models", size: "Sizes", submission: "Submissions" };

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

const wireMethod = () => {
  const offered = methods.map((method, place) => [String(place), method || "not given"]);
  fillSelect(byId("method"), [...offered, ["all", "All methods"]]);
  byId("method-field").hidden = methods.length < 2;
  byId("method").addEventListener("change", ({ target }) => {
    const everyMethod = target.value === "all";
    change({ everyMethod, ...(!everyMethod && { method: methods[Number(target.value)] }) });
  });
};

const wireControls = () => {
  wireMethod();
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
  byId("method").value = state.everyMethod ? "all" : String(methods.indexOf(state.method));
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
    : "not ranked on all datasets, as some are missing; its ranks in dimensions are below";
  const score = columns.get("overall").read(entry);
  const range = showRange(score.low, score.high);
  return [
    [methods.length > 1 ? `Rank with ${read("method")}` : "Rank", rank],
    ["Tie group", read("tie_group")],
    ["Overall", showScore(score.value) + (range && ` (${range})`)],
    ["Datasets", `${read("datasets")} of ${read("expected")}`],
    ["Runs", read("runs")],
    ["Method", read("method")],
    ["Size", read("size")],
    ["Backbone", read("backbone") === read("name") ? "" : read("backbone")],
    ["Submission", read("submission")],
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

const areNumbers = (texts) => texts.every((text) => text === "" || Number.isFinite(Number(text)));

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

const nameEntry = (entry) =>
  ["name", "method", "submission"]
    .filter((name) => name === "name" || entries.distinct(name).length > 1)
    .map((name) => entries.text(name, entry))
    .join(" · ");

// Whether letters separate two entries; those of different methods are ranked apart.
const judgePair = (entry, other) => {
  const [one, two] = [entry, other].map((row) => entries.text("tie_group", row));
  if (entries.text("method", entry) !== entries.text("method", other)) {
    return "Entries of different methods are ranked apart: whether these two differ was not tested.";
  }
  if (!one || !two) return "Whether these two differ was not tested.";
  return [...one].some((letter) => two.includes(letter))
    ? "Over all datasets these two cannot be separated, allowing for all pairs."
    : "Over all datasets these two are separated, allowing for all pairs.";
};

const listPair = (entry, other) =>
  [...columns.values()].filter(({ kind }) => kind === "score").flatMap((column) => {
    const scores = [entry, other].map(column.readNormalized ?? column.read);
    if (scores.every((score) => !score)) return [];
    const texts = scores.flatMap((score) =>
      score ? [showScore(score.value), showRange(score.low, score.high)] : ["", ""]);
    return [[column.label, ...texts]];
  });

const showPair = (entry) => {
  const others = sortByScore(rows.filter((row) => row !== entry));
  if (!others.length) return [];
  const select = make("select", { id: "beside" });
  fillSelect(select, [["", "no other entry"], ...others.map((row) => [entries.text("model", row), nameEntry(row)])]);
  select.value = state.beside;
  select.addEventListener("change", () => change({ beside: select.value }));
  const field = make("label", { className: "field" }, "Compare with ", select);
  const other = rowOf.get(state.beside);
  if (other === undefined || other === entry) return [field];
  const level = `${content.confidence}% interval`;
  const heads = [["Over", "text"], ...[entry, other].flatMap((row) => [[nameEntry(row), "number"], [level, "number"]])];
  const verdict = make("p", { id: "verdict" }, judgePair(entry, other));
  return [field, verdict, makeTable("Side by side, normalized scores", heads, listPair(entry, other))];
};

const fillDialog = (entry) => {
  const model = entries.text("model", entry);
  const title = make("h2", { id: "model-title", tabIndex: -1 }, showName(entries.text("name", entry)));
  const close = make("button", { type: "button", className: "close" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const level = `${content.confidence}% interval`;
  const parts = [["Dimension", "text"], ["Score", "number"], [level, "number"], ["Rank", "number"],
    ["Rank interval", "number"], ["Datasets", "number"]];
  const cells = [["Dataset", "text"], ["Metric", "text"], ["Seeds", "number"],
    ["Raw mean ± SEM", "number"], ["Normalized", "number"], [level, "number"], ["Rank", "number"]];
  const provenance = make("details", {}, make("summary", {}, "Every seed, and where it comes from"));
  provenance.addEventListener("toggle", () => provenance.append(...showRuns(model)), { once: true });
  dialog.replaceChildren(
    make("header", {}, title, close),
    makeList(describe(entry).map(([term, text]) => [term, showName(text)])),
    ...showPair(entry),
    makeTable("Dimensions", parts, listDimensions(model)),
    makeTable("Datasets", cells, listDatasets(model)),
    provenance,
    ...showSubmission(entry),
  );
};

const showDialog = () => {
  const entry = rowOf.get(state.open);
  if (entry === undefined) return dialog.close();
  const same = dialog.open && dialog.dataset.entry === String(entry);
  if (same && dialog.dataset.beside === state.beside) return undefined;
  Object.assign(dialog.dataset, { entry, beside: state.beside });
  fillDialog(entry);
  if (!dialog.open) dialog.showModal();
  byId(same ? "beside" : "model-title").focus();
  return undefined;
};

dialog.addEventListener("close", () => {
  const { entry } = dialog.dataset;
  if (state.open) change({ open: "", beside: "" });
  restoreFocus({ entry });
});
dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());

// Score against size of the entries that are shown.
const UNITS = { k: 1e3, m: 1e6, b: 1e9, t: 1e12 };
const SHAPES = ["circle", "square", "diamond", "triangle"];
const OUTLINES = {
  circle: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
  square: "M-4-4h8v8h-8z",
  diamond: "M0-5.5L5.5 0L0 5.5L-5.5 0z",
  triangle: "M0-5L5 4.5h-10z",
};
const HIGH = 340;
const MARGIN = { left: 52, right: 16, top: 26, bottom: 44 };

// A number with or without K, M, B or T behind it, as in "300M".
const readSize = (entry) => {
  const [, number, unit] = entries.text("size", entry).match(/^\s*([\d.]+)\s*([kmbt]?)\b/i) ?? [];
  return Number(number) * (UNITS[unit?.toLowerCase()] ?? 1) || NaN;
};

const sizes = new Map(rows.map((row) => [row, readSize(row)]));

const writeSize = (size) => {
  const [unit, factor] = Object.entries(UNITS).findLast(([, one]) => size >= one) ?? ["", 1];
  return `${Number((size / factor).toPrecision(3))}${unit.toUpperCase()}`;
};

// Round numbers within a span: 1, 2 or 5 times a power of ten.
const listTicks = (low, high) => {
  const power = 10 ** Math.floor(Math.log10((high - low) / 3));
  const step = power * [5, 2, 1].find((one) => (high - low) / (one * power) >= 3);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
};

const listSizes = (low, high) => {
  const powers = Array.from({ length: 15 }, (_, power) => 10 ** power);
  const among = (factors) =>
    powers.flatMap((power) => factors.map((one) => one * power)).filter((size) => size >= low && size <= high);
  return [[1], [1, 3], [1, 2, 5]].map(among).find((ticks) => ticks.length >= 3) ?? among([1, 1.5, 2, 3, 5, 7]);
};

const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low)) * (to - from);

const readPoint = (entry) => {
  const [sheet, row] = locateRank(entry);
  if (row === undefined) return null;
  const [score, low, high] = PARTS.map((name) => sheet.number(name, row));
  const size = sizes.get(entry);
  if (Number.isNaN(size + score)) return null;
  const hasRange = !Number.isNaN(low + high);
  return { entry, size, score, low: hasRange ? low : score, high: hasRange ? high : score, range: showRange(low, high) };
};

const drawAxis = (ticks, place, write, line) =>
  ticks.flatMap((tick) => {
    const at = place(tick);
    const [grid, label] = line(at);
    return [draw("path", { class: "grid", d: grid }), draw("text", label, write(tick))];
  });

const drawPoint = (point, x, y) => {
  const name = entries.text("name", point.entry);
  const method = entries.text("method", point.entry);
  const range = point.range && ` (${point.range})`;
  const text = `${showScore(point.score)}${range}, size ${entries.text("size", point.entry)}`;
  const title = methods.length > 1 ? `${name} · ${method}` : name;
  const mark = draw("g", { class: "mark", tabindex: 0, role: "button", "aria-haspopup": "dialog", "aria-label": `${title}: ${text}` });
  const place = methods.indexOf(method) % SHAPES.length;
  mark.append(
    draw("path", { class: "range", d: `M${x(point.size)} ${y(point.low)}V${y(point.high)}` }),
    draw("path", { class: `dot of-${SHAPES[place]}`, d: OUTLINES[SHAPES[place]], transform: `translate(${x(point.size)} ${y(point.score)})` }),
  );
  const open = () => change({ open: entries.text("model", point.entry) });
  mark.addEventListener("click", open);
  mark.addEventListener("keydown", (event) => ["Enter", " "].includes(event.key) && (event.preventDefault(), open()));
  mark.addEventListener("pointermove", (event) => showTip({ title, text }, event));
  mark.addEventListener("pointerleave", () => showTip(null));
  return mark;
};

// Names stand where they cover neither a point nor another name, those of the best entries first.
const drawNames = (points, x, y, wide) => {
  const taken = points.map((point) => [x(point.size) - 6, y(point.score) - 6, 12, 12]);
  const meets = ([left, top, width, height]) =>
    taken.some(([a, b, c, d]) => left < a + c && a < left + width && top < b + d && b < top + height);
  return points.flatMap((point) => {
    const name = entries.text("name", point.entry);
    const width = 6.6 * name.length;
    const right = x(point.size) + 8;
    const [left, anchor] = right + width < wide ? [right, "start"] : [x(point.size) - 8 - width, "end"];
    const box = [left, y(point.score) - 7, width, 14];
    if (left < MARGIN.left || meets(box)) return [];
    taken.push(box);
    const at = { x: anchor === "start" ? left : left + width, y: y(point.score) + 4, "text-anchor": anchor };
    return [draw("text", at, name)];
  });
};

const drawPlot = (order) => {
  const points = order.map(readPoint).filter(Boolean);
  byId("plot").hidden = new Set(points.map(({ size }) => size)).size < 2;
  if (byId("plot").hidden) return;
  const wide = Math.max(300, Math.min(900, byId("plot").clientWidth - 2));
  const [bottom, right] = [HIGH - MARGIN.bottom, wide - MARGIN.right];
  const all = points.map(({ size }) => size);
  const [small, large] = [Math.min(...all) / 1.25, Math.max(...all) * 1.25];
  const lows = Math.min(...points.map(({ low }) => low));
  const highs = Math.max(...points.map(({ high }) => high));
  const room = 0.04 * (highs - lows || 1);
  const log = scale(Math.log(small), Math.log(large), MARGIN.left, right);
  const x = (size) => log(Math.log(size));
  const y = scale(lows - room, highs + room, bottom, MARGIN.top);
  const basis = state.group ? `score on ${state.group}` : "overall score";
  const svg = draw("svg", { viewBox: `0 0 ${wide} ${HIGH}`, width: wide, height: HIGH, role: "group", "aria-label": `Plot of the ${basis} against size` });
  svg.append(
    ...drawAxis(listTicks(lows - room, highs + room), y, (tick) => String(Number(tick.toPrecision(3))), (at) => [
      `M${MARGIN.left} ${at}H${right}`, { x: MARGIN.left - 6, y: at + 4, "text-anchor": "end" }]),
    ...drawAxis(listSizes(small, large), x, writeSize, (at) => [
      `M${at} ${MARGIN.top}V${bottom}`, { x: at, y: bottom + 16, "text-anchor": "middle" }]),
    draw("text", { x: 4, y: 12 }, basis),
    draw("text", { x: (MARGIN.left + right) / 2, y: HIGH - 8, "text-anchor": "middle" }, "size (logarithmic)"),
    ...points.map((point) => drawPoint(point, x, y)),
    ...drawNames(points, x, y, right),
  );
  const lacking = order.length - points.length;
  const shapes = methods.length > 1 && state.everyMethod
    ? ` ${methods.map((method, i) => `${SHAPES[i % SHAPES.length]}: ${method || "not given"}`).join(", ")}.` : "";
  byId("plot-note").textContent = `The ${basis} of the entries shown, with intervals.${shapes}${lacking ? ` ${lacking} without a size or score.` : ""}`;
  byId("plot-place").replaceChildren(svg);
};

// The view as a file: RFC 4180 with the line ends and all the digits of the study's tables.
const NUMBERS = new Set([
  ...["rank", SCORE, "ci_low", "ci_high", "rank_low", "rank_high"],
  ...["mean", "runs", "datasets", "expected"],
]);

const writeCsv = (order) => {
  const scores = listShown().filter(({ heads }) => heads);
  const heads = [...entries.names, ...scores.flatMap(({ heads }) => heads())];
  if (fleeting) heads.push("rank_in_selection");
  const lines = order.map((entry) => {
    const cells = entries.names.map((name) => quote(entries.text(name, entry), NUMBERS.has(name)));
    for (const { heads, read } of scores) {
      cells.push(...(read(entry)?.texts ?? heads().map(() => "")));
    }
    if (fleeting) cells.push(fleeting.get(entry) ?? "");
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

const showBanner = () => {
  const again = "The published rank (“was”) stands beneath each.";
  const basis = state.group ? `the score on ${state.group}` : "the overall score";
  byId("banner").hidden = !fleeting;
  byId("banner").textContent = fleeting
    ? `Ranks are recomputed by ${basis} within the ${order.length} entries shown. ${again}`
    : "";
};

const render = () => {
  const selection = select();
  fleeting = state.rerank ? rankAgain(selection) : null;
  order = sortEntries(selection);
  drawTable(order);
  drawPlot(order);
  showControls();
  showBanner();
  byId("status").textContent = `${order.length} of ${entries.length} entries${describeOrder()}`;
  showDialog();
};

const sortBy = (id) => {
  const { kind } = columns.get(id);
  const first = kind === "number" || (kind === "score" && !lowerIsBetter);
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

const writeNotes = () => {
  const level = `${content.confidence}%`;
  const notes = [
    `Scores are normalized per dataset, and the overall score is the ${content.statistic.name} over runs and datasets; ${lowerIsBetter ? "lower" : "higher"} is better. With “All intervals” each has its ${level} interval beneath it. Raw dataset scores are means ± SEM over seeds in the metric's own units.`,
    `The small numbers at a rank are the ranks that are compatible with the data at ${level}. Entries that share a letter of their tie group cannot be told apart.`,
    "Ranks are those among all entries of a method, on all datasets or in the chosen dataset group; entries that lack some of these datasets are marked (7/8 or *), not ranked there, and stand last. Filters leave ranks as they are, unless “Re-rank within selection” is on.",
    "Darker blue (lighter at night) means a better normalized score within its column. The address of this page always leads to the view that you see.",
  ];
  byId("notes").append(...notes.map((note) => make("p", {}, note)));
  byId("caption").textContent = content.captions.entries ?? "";
  byId("caption").hidden = !content.captions.entries;
};

writeNotes();
wireTable();
wireControls();
byId("tools").hidden = false;
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
byId("download").addEventListener("click", () => save(`${content.study}-leaderboard.csv`, writeCsv(state.sort || state.group ? order : [...order].sort((a, b) => a - b))));
addEventListener("popstate", goBack);
addEventListener("beforeprint", finish);
addEventListener("resize", () => drawPlot(order));
goBack();
