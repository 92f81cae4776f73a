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
