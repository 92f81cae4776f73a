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
