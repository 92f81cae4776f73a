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
