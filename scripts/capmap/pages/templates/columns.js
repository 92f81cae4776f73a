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
