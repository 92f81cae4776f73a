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
