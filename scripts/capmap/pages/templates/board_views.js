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
