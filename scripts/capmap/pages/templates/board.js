// The finished tables of a leaderboard, as their files have them; the view is made of them.
const content = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

const unpack = (table) => {
  const columns = (table?.columns ?? []).map(({ name, values, codes }) => [name, codes.map((code) => values[code])]);
  return Array.from({ length: table?.rows ?? 0 }, (_, row) =>
    Object.fromEntries(columns.map(([name, cells]) => [name, cells[row]])));
};

const groupBy = (rows, name) => {
  const groups = new Map();
  for (const row of rows) groups.set(row[name], [...(groups.get(row[name]) ?? []), row]);
  return groups;
};

// Rows of a table, the distinct values of its key, and the row of an entry with one of them.
const openTable = (name, key) => {
  const rows = unpack(content.tables[name]);
  const index = new Map([...groupBy(rows, "model")].map(([model, own]) => [
    model, new Map(own.map((row) => [row[key], row])),
  ]));
  return { rows, keys: [...new Set(rows.map((row) => row[key]))], find: (entry, value) => index.get(entry.model)?.get(value) };
};

const entries = unpack(content.tables.entries);
const dimensions = openTable("dimensions", "dimension");
const raw = openTable("raw", "dataset");
const normalized = openTable("normalized", "dataset");
const best = unpack(content.tables.best);
const submissions = unpack(content.tables.submissions);
const checkpoints = unpack(content.tables.checkpoints);
const methods = [...new Set(entries.map(({ method }) => method))];
const groups = new Map(content.groups);
const dimensionNames = dimensions.keys.filter((name) => name !== "All");
const datasets = [...new Set([...normalized.keys, ...raw.keys])].sort(collator.compare);

const SCORE = content.score;
const number = (text) => (text === undefined || text === "" ? NaN : Number(text));
const areNumbers = (texts) => texts.every((text) => text === "" || Number.isFinite(Number(text)));
const showScore = (value) => (Number.isNaN(value) ? "" : value.toFixed(3));
const showRaw = (value) => {
  if (Number.isNaN(value)) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.0001 || size >= 1e7)) return value.toExponential(2);
  return size < 100 ? value.toFixed(4) : value.toFixed(1);
};
const showRange = (row) => (row?.ci_low && row?.ci_high ? `[${showScore(number(row.ci_low))}, ${showScore(number(row.ci_high))}]` : "");
const showRanks = (row) => (row?.rank_low ? `[${row.rank_low}, ${row.rank_high}]` : "");
const showName = (name) => make("bdi", {}, name); // its direction of writing ends where it ends

// What the reader chose, as texts; the address leads to it again, without what is as at first.
const DEFAULTS = {
  method: content.first, group: "", search: "", sort: "", order: "", columns: "",
  raw: "", intervals: "", best: "", plain: "", open: "",
};
const KNOWN = {
  method: (name) => methods.includes(name),
  group: (name) => groups.has(name),
  open: (name) => entries.some(({ model }) => model === name),
  order: (name) => name in TURNED,
  columns: (text) => { try { return Array.isArray(JSON.parse(text)); } catch { return false; } },
};
let state = { ...DEFAULTS };

const readAddress = () => {
  const words = [...new URLSearchParams(location.hash.slice(1))];
  const known = words.filter(([name, value]) => Object.hasOwn(DEFAULTS, name) && (KNOWN[name]?.(value) ?? true));
  return { ...DEFAULTS, ...Object.fromEntries(known) };
};

// Typing replaces the address instead of adding one.
const writeAddress = ({ replace = false } = {}) => {
  const words = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
  const address = `#${new URLSearchParams(words)}`;
  if (replace) history.replaceState(null, "", address);
  else if (address !== (location.hash || "#")) history.pushState(null, "", address);
};

const change = (changes) => {
  Object.assign(state, changes);
  writeAddress();
  render();
};

// Entries of the method by rank, on all datasets or in the chosen group, then by score.
const listMethod = () => entries.filter(({ method }) => method === state.method);
const isRankedInGroup = () => dimensionNames.includes(state.group);
const locateRank = (entry) => (isRankedInGroup() ? dimensions.find(entry, state.group) : entry);
const readRank = (entry) => locateRank(entry)?.rank ?? "";

// The first of a ranking by an error has the lowest score.
const isLowerBetter = () => {
  const ranked = listMethod().filter(({ rank }) => rank !== "");
  const first = ranked.find(({ rank }) => rank === "1");
  return ranked.some((entry) => number(entry[SCORE]) > number(first?.[SCORE]));
};

const keyOf = ({ method, backbone, submission }) => JSON.stringify([method, backbone, submission]);
const bestKeys = new Set(best.map(keyOf));

const listShown = () => {
  const sign = isLowerBetter() ? 1 : -1;
  const rank = (entry) => Number(readRank(entry) || Infinity);
  const score = (entry) => sign * number(locateRank(entry)?.[SCORE]);
  return listMethod()
    .filter((entry) => !state.best || bestKeys.has(keyOf(entry)))
    .sort((one, other) => (rank(one) - rank(other) || 0) || (score(one) - score(other) || 0));
};

// Missing datasets are marked where others have them.
const isComplete = (row) => row?.complete === "True";
const findPartial = (rows) => (rows.some(isComplete) ? new Set(rows.filter((row) => row && !isComplete(row))) : new Set());
const countDatasets = ({ datasets: count, expected }) => `${count} of ${expected} datasets`;

// What a benchmark says of a dataset or a dimension.
const describeGroup = (name) =>
  [content.descriptions.dimensions[name], (groups.get(name) ?? []).join(", ")].filter(Boolean).join("\n");

// A column of scores: its rows, and what is printed and shaded of them.
const makeScores = (id, label, locate, more = {}) => {
  const column = {
    id, label, locate, kind: "score", range: showRange, show: (row) => showScore(number(row[SCORE])),
    heat: (entry) => number(locate(entry)?.[SCORE]), ...more,
  };
  const own = listMethod();
  const values = own.map(column.heat).filter((value) => !Number.isNaN(value));
  column.ends = [Math.min(...values), Math.max(...values)];
  column.partial = more.group === "Datasets" ? new Set() : findPartial(own.map(locate));
  return column;
};

const makeDataset = (name) => {
  const more = { group: "Datasets", title: content.descriptions.datasets[name] };
  const scores = makeScores(`dataset:${name}`, name, (entry) => normalized.find(entry, name), more);
  if (!state.raw) return scores;
  return {
    ...scores,
    locate: (entry) => raw.find(entry, name),
    show: (row) => showRaw(number(row.mean)),
    range: ({ sem }) => sem && `± ${showRaw(number(sem))}`,
  };
};

const makeAbout = ([name, label]) => ({
  id: `about:${name}`, label, name, group: "About the entries",
  kind: areNumbers(entries.map((entry) => entry[name])) ? "number" : "text",
});
const ABOUT = Object.entries(content.about)
  .filter(([name]) => entries.some((entry) => entry[name] && entry[name] !== entry.name))
  .map(makeAbout);
const FEW = 12;

const listColumns = () => [
  { id: "rank", label: isRankedInGroup() ? `Rank in ${state.group}` : "Rank", kind: "rank" },
  { id: "name", label: content.noun, kind: "name" },
  makeScores("overall", dimensionNames.length ? "Overall" : "Score", (entry) => entry),
  ...ABOUT,
  ...dimensionNames.map((name) => makeScores(`dimension:${name}`, name, (entry) => dimensions.find(entry, name), { group: "Dimensions", title: describeGroup(name) })),
  ...datasets.map(makeDataset),
];

// Columns that are not shown until they are picked.
const isOff = ({ id, name, group, label }) => {
  if (!group) return false;
  if (name) return !content.shown.includes(name) && !(name === "submission" && submissions.length > 1);
  const inGroup = state.group ? groups.get(state.group) : datasets;
  if (group === "Dimensions") return state.group ? label !== state.group : Boolean(state.raw);
  if (state.group || state.raw) return !inGroup.includes(label);
  return dimensionNames.length > 0 || datasets.length > FEW;
};

const drawHead = (column) => {
  const { id, label, kind, group = "", title } = column;
  const fixed = group ? "" : " fixed";
  const className = `${kind} ${["text", "name"].includes(kind) ? "text" : "number"}${fixed}`;
  const head = make("th", { scope: "col", className, title: title ? `${label}: ${title}` : "" }, showName(label));
  Object.assign(head.dataset, { name: id, group, off: isOff(column) ? "1" : "" });
  if (kind === "score" && !isLowerBetter()) head.dataset.first = "descending";
  return head;
};

const drawName = (entry, partial) => {
  const button = makeButton("", () => openEntry(entry.model));
  button.className = "open";
  button.ariaHasPopup = "dialog";
  button.append(showName(entry.name));
  const cell = make("th", { scope: "row", className: "text" }, button);
  if (partial.has(entry)) cell.append(" ", make("small", { title: countDatasets(entry) }, `${entry.datasets}/${entry.expected}`));
  return cell;
};

const drawScore = (column, entry, lower) => {
  const row = column.locate(entry);
  const cell = make("td", { className: "score" });
  if (!row || !column.show(row)) return cell;
  const range = column.range(row);
  const isPartial = column.partial.has(row);
  cell.textContent = column.show(row) + (isPartial && column.group ? "*" : "");
  if (range && (state.intervals || column.id === "overall")) cell.append(" ", make("small", {}, range));
  cell.title = [range, isPartial && countDatasets(row)].filter(Boolean).join(", ");
  const [low, high] = column.ends;
  const share = (column.heat(entry) - low) / (high - low);
  if (high > low) cell.style.setProperty("--heat", `${Math.round(100 * (lower ? 1 - share : share))}%`);
  return cell;
};

const drawCell = (column, entry, lower, partial) => {
  const { kind, name } = column;
  if (kind === "name") return drawName(entry, partial);
  if (kind === "score") return drawScore(column, entry, lower);
  if (kind === "rank") {
    const ranks = showRanks(locateRank(entry));
    const rank = readRank(entry);
    return make("td", { className: "rank" }, rank || "not ranked", ...(rank && ranks ? [" ", make("small", {}, ranks)] : []));
  }
  const value = number(entry[name]);
  if (kind === "text") return make("td", { className: "text", title: entry[name] }, showName(entry[name]));
  return make("td", {}, Number.isInteger(value) ? String(value) : showScore(value));
};

const drawTable = (shown) => {
  const columns = listColumns();
  const lower = isLowerBetter();
  const partial = findPartial(listMethod());
  const rows = shown.map((entry) => {
    const row = make("tr", {}, ...columns.map((column) => drawCell(column, entry, lower, partial)));
    row.dataset.words = ["name", "model", "backbone", "size", "submission"].map((name) => entry[name]).join("\n");
    return row;
  });
  const head = make("thead", {}, make("tr", {}, ...columns.map(drawHead)));
  return make("table", { id: "board" }, make("caption", { className: "hidden", id: "heading" }, `Leaderboard of ${content.study}`), head, make("tbody", {}, ...rows));
};

// Who leads, on how many datasets, and from whom that is not separated.
const NAMED = 5;
const nameEntry = (entry) => {
  const isOne = listMethod().filter(({ name }) => name === entry.name).length === 1;
  return showName(isOne ? entry.name : `${entry.name} (${entry.submission || entry.model})`);
};
const listNames = (shown) => {
  const few = shown.length > NAMED ? NAMED : shown.length;
  const parts = [...shown.slice(0, few).map(nameEntry), ...(few < shown.length ? [`${shown.length - few} more`] : [])];
  return parts.flatMap((part, place) => [place === 0 ? "" : place === parts.length - 1 ? " and " : ", ", part]);
};

const writeLead = (shown) => {
  const ranked = shown.filter(readRank);
  const firsts = ranked.filter((entry) => readRank(entry) === "1");
  if (!firsts.length) return ["No entry is ranked here."];
  const row = locateRank(firsts[0]);
  const count = number(row.expected);
  const on = count ? ` on ${count} ${count === 1 ? "dataset" : "datasets"}` : "";
  const range = row.ci_low ? ` (${content.confidence}% interval ${showScore(number(row.ci_low))} to ${showScore(number(row.ci_high))})` : "";
  const method = methods.length > 1 ? [` ${content.within} `, showName(state.method)] : [];
  const [leads, it] = firsts.length === 1 ? ["leads", "it"] : ["share the lead of", "them"];
  const said = [...listNames(firsts), ` ${leads} ${ranked.length} ranked entries`, ...method, `${on}, ${content.statistic} ${showScore(number(row[SCORE]))}${range}.`];
  const letters = (entry) => [...(locateRank(entry).tie_group ?? "")];
  const shared = new Set(firsts.flatMap(letters));
  if (!shared.size) return [...said, " These ranks come without intervals."];
  const rivals = ranked.filter((entry) => !firsts.includes(entry) && letters(entry).some((letter) => shared.has(letter)));
  if (rivals.length) return [...said, ` Not significantly different from ${it}: `, ...listNames(rivals), "."];
  return ranked.length > firsts.length ? [...said, ` All others are significantly worse than ${it}.`] : said;
};

// What is known about one entry.
const dialog = byId("model");
const TERMS = {
  paper: "Paper", code: "Code", license: "License", hpo_trials: "Trials of the parameter search",
  models: "Models", information: "About the submission", comments: "About its models",
};

const makeTable = (caption, heads, lines) => {
  if (!lines.length) return [];
  const kinds = heads.map((_, place) => (place && areNumbers(lines.map((cells) => cells[place])) ? "number" : "text"));
  const row = make("tr", {}, ...heads.map((label, place) => make("th", { scope: "col", className: kinds[place] }, showName(label))));
  const body = lines.map((cells) => make("tr", {}, ...cells.map((text, place) => (place === 0
    ? make("th", { scope: "row", className: "text" }, showName(text))
    : make("td", { className: kinds[place] }, showName(text))))));
  const box = make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: caption });
  box.append(make("table", {}, make("caption", {}, caption), make("thead", {}, row), make("tbody", {}, ...body)));
  return [box];
};

const makeList = (pairs) =>
  make("dl", {}, ...pairs.filter(([, text]) => text).flatMap(([term, text]) => [make("dt", {}, showName(term)), make("dd", {}, showLink(text))]));

// Only addresses on the web become links.
const showLink = (text) =>
  /^https?:\/\/\S+$/i.test(text) && URL.canParse(text)
    ? make("a", { href: text, rel: "noopener noreferrer", target: "_blank" }, text)
    : showName(text);

const describe = (entry) => [
  [methods.length > 1 ? `Rank with ${entry.method}` : "Rank", entry.rank ? `${entry.rank} ${showRanks(entry)}` : "not ranked, as datasets or values are missing"],
  ["Tie group", entry.tie_group],
  [dimensionNames.length ? "Overall" : "Score", `${showScore(number(entry[SCORE]))} ${showRange(entry)}`],
  ["Datasets", entry.expected && countDatasets(entry)],
  ["Runs", entry.runs],
  [content.switch, entry.method],
  ...ABOUT.filter(({ name }) => !["runs", "tie_group"].includes(name))
    .map(({ name, label, kind }) => [label, kind === "number" ? showRaw(number(entry[name])) : entry[name]]),
];

const listDimensions = (entry) =>
  dimensions.keys.map((name) => dimensions.find(entry, name)).filter(Boolean).map((row) => [
    row.dimension, showScore(number(row[SCORE])), showRange(row), row.rank || "not ranked", showRanks(row), countDatasets(row),
  ]);

const listDatasets = (entry) =>
  datasets.map((name) => [name, raw.find(entry, name), normalized.find(entry, name)])
    .filter(([, one, other]) => one || other)
    .map(([name, one = {}, other = {}]) => [
      name, one.metric ?? "", one.seeds || other.seeds || "",
      [showRaw(number(one.mean)), one.sem && `± ${showRaw(number(one.sem))}`].filter(Boolean).join(" "),
      showScore(number(other[SCORE])), showRange(other), other.rank ?? "",
    ]);

const fillDialog = (entry) => {
  const level = `${content.confidence}% interval`;
  const title = make("h2", { id: "model-title", tabIndex: -1 }, showName(entry.name));
  const own = checkpoints.filter(({ training, model }) => training === entry.training && model === entry.backbone)
    .map(({ checkpoint, step, selection, chosen }) => [checkpoint, step, showRaw(number(selection)), chosen === "True" ? "yes" : ""]);
  const submission = submissions.find(({ submission: name }) => name && name === entry.submission);
  const pairs = Object.entries(TERMS).map(([name, term]) => [term, submission?.[name]]).filter(([, text]) => text);
  dialog.replaceChildren(
    make("header", {}, title, makeButton("Close", () => dialog.close())),
    makeList(describe(entry)),
    ...makeTable("Dimensions", ["Dimension", "Score", level, "Rank", "Rank interval", "Datasets"], listDimensions(entry)),
    ...makeTable("Datasets", ["Dataset", "Metric", "Seeds", "Raw mean ± SEM", "Normalized", level, "Rank"], listDatasets(entry)),
    ...makeTable("Checkpoints", ["Checkpoint", "Step", "Value by which it is chosen", "Chosen"], own),
    ...(pairs.length ? [make("h3", {}, "Submission"), makeList(pairs)] : []),
  );
  title.focus();
};

const showDialog = () => {
  const entry = entries.find(({ model }) => model === state.open);
  if (!entry) return dialog.close();
  if (!dialog.open) dialog.showModal();
  return fillDialog(entry);
};

const openEntry = (model) => {
  state.open = model;
  writeAddress();
  showDialog();
};

dialog.addEventListener("close", () => {
  if (!state.open) return;
  state.open = "";
  writeAddress();
});
dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());

// Puts the state on the page.
const render = () => {
  const shown = listShown();
  const box = byId("box");
  box.querySelector(".tools")?.remove();
  box.querySelector(".scroll").replaceChildren(drawTable(shown));
  equip(box, state, writeAddress);
  box.classList.toggle("heat", !state.plain);
  for (const name of ["method", "group"]) byId(name).value = state[name];
  for (const name of ["raw", "intervals", "best", "plain"]) byId(name).checked = state[name] !== "";
  byId("lead").replaceChildren(...writeLead(listShown()));
  showDialog();
};

const wireSelect = (id, options) => {
  byId(id).replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
  byId(id).addEventListener("change", ({ target }) => change({ [id]: target.value, columns: "" }));
  byId(`${id}-field`).hidden = options.length < 2;
};

wireSelect("method", methods.map((name) => [name, name || "not given"]));
wireSelect("group", [["", "All datasets"], ...[...groups.keys()].map((name) => [name, name])]);
const OFFERED = {
  raw: raw.rows.length > 0,
  intervals: entries.some(({ ci_low: low }) => low),
  best: best.length > 0 && best.length < entries.filter(isComplete).length,
  plain: true,
};
for (const [name, isOffered] of Object.entries(OFFERED)) {
  byId(`${name}-field`).hidden = !isOffered;
  byId(name).addEventListener("change", ({ target }) => change({ [name]: target.checked ? "1" : "" }));
}
byId("reset").addEventListener("click", () => change({ ...DEFAULTS }));
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
const goBack = () => {
  state = readAddress();
  render();
};
addEventListener("popstate", goBack);
goBack();
byId("controls").hidden = false;
