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
