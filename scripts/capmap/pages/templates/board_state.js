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
