// What all pages share: elements, tooltips, tables that sort, filter and copy themselves, and
// figures that answer. Without it a page still shows its tables and figures.
const SVG = "http://www.w3.org/2000/svg";
const collator = new Intl.Collator("en", { numeric: true });

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

const draw = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const makeButton = (text, onclick) => make("button", { type: "button", onclick }, text);

const makeBox = (label, checked, act) => {
  const box = make("input", { type: "checkbox", checked });
  box.addEventListener("change", () => act(box.checked));
  return make("label", { className: "switch" }, box, " ", make("bdi", {}, label));
};

// What is folded under a button; a click elsewhere or Escape closes it.
const makeFold = (title, fill) => {
  const panel = make("div", { className: "panel" });
  const fold = make("details", { className: "fold" }, make("summary", {}, title), panel);
  fold.addEventListener("toggle", () => fold.open && fill(panel));
  return fold;
};

const closeFolds = (target) => {
  document.querySelectorAll(".fold[open]").forEach((fold) => {
    if (!fold.contains(target)) fold.open = false;
  });
};
document.addEventListener("click", ({ target }) => closeFolds(target));
document.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape") return;
  target.closest(".fold")?.querySelector("summary").focus();
  closeFolds(null);
});

const tip = make("div", { className: "tip", hidden: true });
document.body.append(tip);

// What is under the pointer, beside it; nothing without a subject.
const showTip = (subject, event) => {
  tip.hidden = !subject;
  if (!subject) return;
  tip.replaceChildren(make("strong", {}, subject.title), subject.text ? `\n${subject.text}` : "");
  const { offsetWidth: wide, offsetHeight: high } = tip;
  const x = Math.min(event.clientX + 14, document.documentElement.clientWidth - wide - 8);
  const below = event.clientY + 16;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${below + high > innerHeight ? event.clientY - high - 10 : below}px`;
};

// A table as it is shown, in the formats of other programs. Texts that a spreadsheet would run as
// formulas are defused as in the files of the study.
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "±": "$\\pm$" };
const escapeLatex = (text) => text.replace(/[\\~^±]|[{}$&#_%]/g, (sign) => LATEX[sign] ?? `\\${sign}`);
const escapeMarkdown = (text) => text.replace(/[\\|*_<`]/g, "\\$&");

const quote = ({ text, isValue }) => {
  const safe = !isValue && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const FORMATS = {
  Markdown: ([head, ...body]) => {
    const write = (cells) => `| ${cells.join(" | ")} |`;
    const show = ({ text, best }) => (best ? `**${escapeMarkdown(text)}**` : escapeMarkdown(text));
    const rule = head.map(({ numeric }) => (numeric ? "--:" : ":--"));
    return [write(head.map(show)), write(rule), ...body.map((row) => write(row.map(show)))];
  },
  LaTeX: ([head, ...body]) => {
    const show = ({ text, best }) => (best ? `\\textbf{${escapeLatex(text)}}` : escapeLatex(text));
    const write = (row) => `${row.map(show).join(" & ")} \\\\`;
    const align = head.map(({ numeric }) => (numeric ? "r" : "l")).join("");
    return [`\\begin{tabular}{${align}}`, "\\toprule", write(head), "\\midrule", ...body.map(write), "\\bottomrule", "\\end{tabular}"];
  },
  CSV: (rows) => rows.map((row) => row.map(quote).join(",")),
};

const readTable = (table) =>
  [...table.rows].filter((row) => !row.hidden).map((row) =>
    [...row.cells].filter((cell) => !cell.hidden).map((cell) => ({
      text: cell.innerText.replace(/\s+/g, " ").trim(),
      best: cell.matches(".best"),
      numeric: cell.matches("td:not(.text), .number"),
      isValue: cell.matches("td:not(.text)"),
    })),
  );

const copyText = (text) => {
  const fill = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", fill, { once: true });
  document.execCommand("copy");
};

// Missing values stay last. An interval or a spread follows the number by which a cell sorts.
const isMissing = (value) => value === "" || Number.isNaN(value);
const compareRows = (column, numeric, sign) => (...rows) => {
  const texts = rows.map((row) => row.cells[column].textContent);
  const [a, b] = numeric ? texts.map(parseFloat) : texts;
  if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
  return sign * (numeric ? a - b : collator.compare(a, b));
};

const TURNED = { ascending: "descending", descending: "ascending" };
const FEW_ROWS = 3;

// A table answers: `view` is what the reader chose of it (search, sort, order, columns), and
// `changed` hears of it. Columns are known by the `data-name` of their headings.
const equip = (box, view = { search: "", sort: "", order: "", columns: "" }, changed = () => {}) => {
  const table = box.querySelector("table");
  const [body] = table.tBodies;
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...body.rows];
  const labels = heads.map((head) => head.textContent);
  const fixed = heads.findIndex((head) => head.matches(".text")); // names of rows
  const output = make("output", { ariaLive: "polite" });

  const sort = () => {
    const column = heads.findIndex((head) => head.dataset.name === view.sort);
    heads.forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", view.order);
      else head.removeAttribute("aria-sort");
    });
    const sign = view.order === "ascending" ? 1 : -1;
    const compare = compareRows(column, heads[column]?.matches(".number"), sign);
    body.append(...(column < 0 ? rows : rows.toSorted(compare)));
  };

  const filter = () => {
    const words = view.search.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = words.length ? (row.dataset.words ?? row.textContent).toLowerCase() : "";
      row.hidden = !words.every((word) => text.includes(word));
    }
    const shown = rows.filter((row) => !row.hidden).length;
    output.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  };

  const listColumns = () =>
    new Set(view.columns ? JSON.parse(view.columns) : heads.filter((head) => !head.dataset.off).map((head) => head.dataset.name));
  const isFixed = (place) => place === fixed || heads[place].matches(".fixed");
  const hide = () => {
    const chosen = listColumns();
    heads.forEach((head, place) => {
      const off = !chosen.has(head.dataset.name) && !isFixed(place);
      if (head.hidden !== off) for (const row of table.rows) row.cells[place].hidden = off;
    });
  };

  const choose = (names, on) => {
    const chosen = listColumns();
    for (const name of names) chosen[on ? "add" : "delete"](name);
    view.columns = JSON.stringify([...chosen]);
    hide();
    changed();
  };

  const fillColumns = (panel) => {
    const places = heads.map((_, place) => place).filter((place) => !isFixed(place));
    const group = (place) => heads[place].dataset.group ?? "Columns";
    panel.replaceChildren(...[...new Set(places.map(group))].map((title) => {
      const own = places.filter((place) => group(place) === title);
      const names = own.map((place) => heads[place].dataset.name);
      const boxes = own.map((place, n) =>
        makeBox(labels[place], !heads[place].hidden, (on) => choose([names[n]], on)));
      const all = [["All", true], ["None", false]].map(([word, on]) => {
        const button = makeButton(word, () => {
          choose(names, on);
          for (const { control } of boxes) control.checked = on;
        });
        button.setAttribute("aria-label", `${word}: ${title}`);
        return button;
      });
      return make("fieldset", {}, make("legend", {}, title), make("div", { className: "pair" }, ...all), ...boxes);
    }));
  };

  const addTools = () => {
    const search = make("input", { type: "search", value: view.search, autocomplete: "off", spellcheck: false });
    search.addEventListener("input", () => {
      view.search = search.value;
      filter();
      changed({ replace: true });
    });
    const copies = Object.entries(FORMATS).map(([format, write]) =>
      makeButton(`Copy ${format}`, () => {
        copyText(`${write(readTable(table)).join("\n")}\n`);
        output.textContent = `Copied as ${format}.`;
      }));
    box.querySelector(".scroll").before(make("div", { className: "tools" },
      make("label", {}, "Filter ", search), makeFold("Columns", fillColumns), ...copies, output));
  };

  heads.forEach((head) => {
    const button = makeButton("", () => {
      const first = head.dataset.first ?? "ascending";
      const next = { [first]: TURNED[first], [TURNED[first]]: "" };
      view.order = view.sort === head.dataset.name ? next[view.order] : first;
      view.sort = view.order ? head.dataset.name : "";
      sort();
      changed();
    });
    button.append(...head.childNodes);
    head.append(button);
  });
  if (rows.length > FEW_ROWS) addTools();
  if (view.sort) sort();
  if (view.search) filter();
  if (view.columns || heads.some((head) => head.dataset.off)) hide();
};

document.querySelectorAll(".table:has(table)").forEach((box) => equip(box));

// Figures that answer: what is under the pointer or the cursor is shown, a click highlights a model
// in all figures and tables, and a list takes models out of them.
const MARKS = "[data-model], [data-dataset]";
const places = new Map(); // model → what is drawn and written of it
const grids = new Map(); // svg → rows or cells in it
const hidden = new Set();
let picked = "";

const add = (model, element) => {
  if (!places.has(model)) places.set(model, []);
  places.get(model).push(element);
};

const frame = (svg, className, [x, y, width, height]) =>
  svg.appendChild(draw("rect", { class: className, x, y, width, height }));

const readGrids = (svg) =>
  [...svg.querySelectorAll("metadata")].map((element) => {
    const grid = { columns: [], texts: [], ...JSON.parse(element.textContent) };
    const [x, y, width, height] = grid.box;
    const [left, right] = grid.band;
    const high = height / grid.rows.length;
    const wide = width / (grid.columns.length || 1);
    grid.placeRow = (row) => [left, y + row * high, right - left, high];
    grid.placeCell = (row, column) =>
      grid.columns.length ? [x + column * wide, y + row * high, wide, high] : grid.placeRow(row);
    grid.placeColumn = (column) => [x + column * wide, y, wide, height];
    grid.find = (point) => [
      Math.floor((point.y - y) / high),
      point.x < x || point.x > x + width ? -1 : Math.floor((point.x - x) / wide),
    ];
    return grid;
  });

const describeCell = (grid, row, column) => {
  const own = { rect: grid.placeCell(row, Math.max(column, 0)) };
  const names = [[grid.kinds[0], grid.rows[row]]];
  if (grid.columns.length && column >= 0) names.unshift([grid.kinds[1], grid.columns[column]]);
  for (const [kind, name] of names) own[kind] = name;
  const text = grid.columns.length ? grid.texts[row]?.[column] : grid.texts[row];
  const missing = grid.columns.length && column >= 0 ? "empty" : "";
  return { ...own, title: names.reverse().map(([, name]) => name).join(" · "), text: text || missing };
};

const describeMark = (element) => {
  const { model = "", dataset = "", text = "", more = "", detail = "" } = element.dataset;
  return { model, dataset, text, more: more || detail, element, title: [model, dataset].filter(Boolean).join(" · ") };
};

const findSubject = (plot, event) => {
  const mark = event.target.closest(MARKS);
  if (mark) return describeMark(mark);
  const svg = plot.firstElementChild;
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  for (const grid of grids.get(svg)) {
    const [row, column] = grid.find(point);
    const [left, right] = grid.band;
    const inside = point.x >= left && point.x <= right;
    if (inside && row in grid.rows && (column === -1 || !grid.columns.length || column in grid.columns)) {
      return describeCell(grid, row, column);
    }
  }
  return null;
};

const listSubjects = (svg) => {
  const marks = [...svg.querySelectorAll(MARKS)].map(describeMark);
  const cells = grids.get(svg).flatMap((grid) =>
    grid.rows.flatMap((_, row) =>
      grid.columns.length
        ? grid.columns.map((_, column) => describeCell(grid, row, column))
        : [describeCell(grid, row, 0)],
    ),
  );
  const known = new Map([...cells, ...marks].map((subject) => [subject.title + subject.text, subject]));
  return [...known.values()];
};

const showCursor = (plot, subject) => {
  plot.querySelectorAll(".cursor").forEach((element) => element.remove());
  if (!subject) return;
  const svg = plot.firstElementChild;
  if (subject.rect) return frame(svg, "cursor", subject.rect);
  const box = subject.element.getBBox();
  frame(svg, "cursor", [box.x - 2, box.y - 2, box.width + 4, box.height + 4]);
};

const say = (plot, subject) => {
  let line = plot.parentElement.querySelector(".reading");
  if (!line) {
    line = make("p", { className: "reading" });
    line.setAttribute("aria-live", "polite");
    plot.after(line);
  }
  line.textContent = [subject.title, subject.text, subject.more].filter(Boolean).join("\n");
};

const showGridsOf = (model, className, change) => {
  for (const [svg, own] of grids) {
    for (const grid of own) {
      grid.rows.forEach((name, row) => {
        if (grid.kinds[0] === "model" && name === model) change(svg, className, grid.placeRow(row));
      });
      grid.columns.forEach((name, column) => {
        if (grid.kinds[1] === "model" && name === model) change(svg, className, grid.placeColumn(column));
      });
    }
  }
};

const mark = (model, on) => {
  for (const element of places.get(model) ?? []) {
    element.classList.toggle("picked", on);
    element.ownerSVGElement?.classList.toggle("picking", on);
  }
};

const pick = (model) => {
  const before = picked;
  picked = model === picked || !places.has(model) ? "" : model;
  document.querySelectorAll(".band").forEach((element) => element.remove());
  mark(before, false);
  mark(picked, true);
  if (picked) showGridsOf(picked, "band", frame);
  list.querySelectorAll("button[aria-pressed]").forEach((button) => {
    button.setAttribute("aria-pressed", String(button.textContent === picked));
  });
  note.textContent = picked ? `Highlighted: ${picked}` : "";
  clear.hidden = !picked;
};

const toggle = (model, shown) => {
  if (shown) hidden.delete(model);
  else hidden.add(model);
  for (const element of places.get(model)) element.classList.toggle("off", !shown);
  document.querySelectorAll(".cover").forEach((element) => element.remove());
  for (const name of hidden) showGridsOf(name, "cover", frame);
};

const zoomable = (plot) => plot.querySelector("[data-more]") !== null;

const zoom = (svg, factor, at) => {
  const [, , width, height] = svg.home;
  const { x, y, width: wide, height: high } = svg.viewBox.baseVal;
  const size = Math.min(width, Math.max(width / 12, wide / factor));
  const share = size / wide;
  const fixed = at ?? { x: x + wide / 2, y: y + high / 2 };
  const left = fixed.x - (fixed.x - x) * share;
  move(svg, left, fixed.y - (fixed.y - y) * share, size, (size / width) * height);
};

const findPicked = (svg) => {
  const box = svg.querySelector(".picked")?.getBBox();
  return box && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

const move = (svg, x, y, wide, high) => {
  const [, , width, height] = svg.home;
  const left = Math.min(Math.max(x, 0), width - wide);
  const top = Math.min(Math.max(y, 0), height - high);
  svg.setAttribute("viewBox", `${left} ${top} ${wide} ${high}`);
  svg.classList.toggle("zoomed", wide < width);
};

const equipZoom = (plot, svg) => {
  svg.home = svg.getAttribute("viewBox").split(" ").map(Number);
  const buttons = [
    ["Zoom in", "+", () => zoom(svg, 1.5, findPicked(svg))],
    ["Zoom out", "−", () => zoom(svg, 1 / 1.5)],
    ["Whole map", "Reset", () => move(svg, ...svg.home)],
  ].map(([label, text, act]) => {
    const button = make("button", { type: "button", onclick: act, title: label }, text);
    button.setAttribute("aria-label", label);
    return button;
  });
  plot.before(make("div", { className: "tools" }, ...buttons));
  plot.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== plot) return;
    event.preventDefault();
    const point = new DOMPoint(event.clientX, event.clientY);
    zoom(svg, event.deltaY < 0 ? 1.2 : 1 / 1.2, point.matrixTransform(svg.getScreenCTM().inverse()));
  }, { passive: false });
  plot.addEventListener("pointermove", (event) => {
    if (!(event.buttons & 1) || !svg.matches(".zoomed")) return;
    const { x, y, width, height } = svg.viewBox.baseVal;
    const scale = width / svg.clientWidth;
    move(svg, x - event.movementX * scale, y - event.movementY * scale, width, height);
  });
};

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

const equipKeys = (plot, svg) => {
  let subjects = null;
  let at = -1;
  plot.addEventListener("keydown", (event) => {
    subjects ??= listSubjects(svg);
    if (event.key === "Escape") pick("");
    else if (event.key === "Enter" || event.key === " ") pick(subjects[at]?.model ?? "");
    else if (["+", "-"].includes(event.key) && svg.home) zoom(svg, event.key === "+" ? 1.5 : 1 / 1.5, findPicked(svg));
    else if (event.key in STEPS && subjects.length) {
      const columns = event.key.match(/Up|Down/) ? grids.get(svg)[0]?.columns.length || 1 : 1;
      const next = at < 0 ? 0 : at + STEPS[event.key] * columns;
      at = Math.min(Math.max(next, 0), subjects.length - 1);
      showCursor(plot, subjects[at]);
      say(plot, subjects[at]);
    } else return;
    event.preventDefault();
  });
  plot.addEventListener("blur", () => showCursor(plot, null));
};

const equipPlot = (plot) => {
  const svg = plot.firstElementChild;
  grids.set(svg, readGrids(svg));
  svg.querySelectorAll("[data-model]").forEach((element) => add(element.dataset.model, element));
  plot.addEventListener("pointermove", (event) => showTip(findSubject(plot, event), event));
  plot.addEventListener("pointerleave", () => showTip(null));
  plot.addEventListener("click", (event) => {
    const subject = findSubject(plot, event);
    if (!subject) return;
    say(plot, subject);
    if (subject.model) pick(subject.model);
  });
  if (zoomable(plot)) equipZoom(plot, svg);
  equipKeys(plot, svg);
};

const equipRows = (table) => {
  const column = [...table.tHead.rows[0].cells].findIndex((head) => head.dataset.name === "model");
  if (column < 0) return;
  for (const row of table.tBodies[0].rows) {
    add(row.cells[column].textContent, row);
    row.addEventListener("click", () => {
      if (getSelection().isCollapsed) pick(row.cells[column].textContent);
    });
  }
};

const list = make("ul", { className: "list" });
const note = make("output", {});
const clear = makeButton("Clear", () => pick(picked));
clear.hidden = true;

const listModels = () => {
  const source = document.querySelector("#table-headline tbody") ?? document.body;
  const ranked = [...source.querySelectorAll("tbody th, th")].map((cell) => cell.textContent);
  const names = [...new Set([...ranked, ...[...places.keys()].sort()])].filter((name) =>
    places.get(name)?.some((element) => element.matches("tr")),
  );
  list.append(
    ...names.map((name) => {
      const box = make("input", { type: "checkbox", checked: true });
      box.setAttribute("aria-label", `Show ${name}`);
      box.addEventListener("change", () => toggle(name, box.checked));
      const button = makeButton(name, () => pick(name));
      button.setAttribute("aria-pressed", "false");
      return make("li", {}, box, button);
    }),
  );
  const search = make("input", { type: "search", placeholder: "Find a model" });
  search.setAttribute("aria-label", "Find a model");
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    for (const item of list.children) item.hidden = !item.textContent.toLowerCase().includes(wanted);
  });
  const fold = makeFold("Models", (panel) => panel.replaceChildren(search, list));
  document.querySelector("nav")?.append(make("div", { className: "chosen" }, fold, note, clear));
};

// A strip per dataset with all models, of the table of scores, when it is opened first.
const STRIP = { wide: 720, high: 44, left: 60, right: 660 };

const drawStrip = (head, cells, place) => {
  const sign = head.dataset.first === "descending" ? 1 : -1;
  const best = [...cells].sort((one, other) => sign * (parseFloat(other[1]) - parseFloat(one[1])));
  const [top, bottom] = [best[0][1], best.at(-1)[1]].map(parseFloat);
  const find = (text) =>
    STRIP.left + (STRIP.right - STRIP.left) * (top === bottom ? 1 : (parseFloat(text) - bottom) / (top - bottom));
  const [over, y] = [place * STRIP.high + 14, place * STRIP.high + 30];
  const dataset = head.textContent;
  const detail = best.map(([model, text], n) => `${n + 1}. ${model}: ${text}`).join("\n");
  const end = (x, anchor, text) => draw("text", { x, y: y + 4, "text-anchor": anchor, fill: "#595959" }, text);
  const [worst, first] = [best.at(-1)[1], best[0][1]].map((text) => text.split(" ")[0]);
  return [
    draw("text", { x: 0, y: over, fill: "#222222", "data-dataset": dataset, "data-text": "Click for all models.", "data-detail": detail }, dataset),
    draw("line", { x1: STRIP.left, x2: STRIP.right, y1: y, y2: y, stroke: "#e4e4e4" }),
    end(STRIP.left - 8, "end", worst),
    end(STRIP.right + 8, "start", first),
    ...best.toReversed().map(([model, text]) => draw("circle", {
      cx: find(text), cy: y, r: 4.5, fill: "#0072b2", "fill-opacity": 0.6,
      "data-model": model, "data-dataset": dataset, "data-text": text,
    })),
  ];
};

const addStrips = (table) => {
  const label = "Each dataset with all models, best on the right";
  const plot = make("div", { className: "plot", tabIndex: 0, role: "img", ariaLabel: label });
  const fold = make("details", { id: "strips" }, make("summary", {}, label), plot);
  fold.addEventListener("toggle", () => {
    const [, ...heads] = table.tHead.rows[0].cells;
    const strips = heads.flatMap((head, place) => {
      const cells = [...table.tBodies[0].rows].map((row) => [0, place + 1].map((n) => row.cells[n].textContent));
      const known = cells.filter(([, text]) => text);
      return known.length ? drawStrip(head, known, place) : [];
    });
    const high = heads.length * STRIP.high;
    plot.append(draw("svg", { class: "wide", viewBox: `0 0 ${STRIP.wide} ${high}` }, ...strips));
    equipPlot(plot);
    if (picked) mark(picked, true);
  }, { once: true });
  table.closest("figure").after(fold);
};

note.setAttribute("aria-live", "polite");
document.querySelectorAll(".plot").forEach(equipPlot);
document.querySelectorAll(".table table").forEach(equipRows);
const scores = document.getElementById("table-raw");
if (scores) addStrips(scores);
if (places.size) listModels();
